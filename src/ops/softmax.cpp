// softmax, log_softmax, logsumexp.
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

using kernels::active;

namespace {

Tensor by_rows(kernels::Rows kernel, const Tensor& x) {
  const Tensor dense = x.contiguous();  // (..., n)
  Tensor y = Tensor::empty(x.shape());  // (..., n)
  kernels::rows(kernel, raw(dense), raw(y), rows_in(x), x.size(-1));
  return y;
}

Tensor by_rows_backward(kernels::RowsBackward kernel, const Tensor& dy, const Tensor& y) {
  const Tensor dense = dy.contiguous();  // (..., n)
  Tensor dx = Tensor::empty(y.shape());  // (..., n)
  kernels::rows_backward(kernel, raw(dense), raw(y), raw(dx), rows_in(y), y.size(-1));
  return dx;
}

// The kernels work on the last axis only: any other is swapped with it before and after.
Tensor along(const char* name, const Tensor& x, int axis, kernels::Rows forward,
             kernels::RowsBackward backward) {
  const int at = normalized_axis(name, axis, x.ndim());
  if (at != x.ndim() - 1) {
    // x's shape
    return transpose(along(name, transpose(x, at, -1), -1, forward, backward), at, -1);
  }
  const Tensor y = by_rows(forward, x);  // (..., n)
  return Tape::record(name, {x}, y,
                      [y = Tape::save(y), backward](const Tensor& dy, GradientSink& to) {
                        to.accumulate(0, by_rows_backward(backward, dy, y));  // (..., n)
                      });
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  return along("softmax", x, axis, active().softmax, active().softmax_backward);
}

Tensor log_softmax(const Tensor& x, int axis) {
  return along("log_softmax", x, axis, active().log_softmax, active().log_softmax_backward);
}

Tensor logsumexp(const Tensor& x, int axis, bool keepdims) {
  const int at = normalized_axis("logsumexp", axis, x.ndim());
  if (at != x.ndim() - 1) {
    // x's shape with 1 for the axis
    const Tensor y = transpose(logsumexp(transpose(x, at, -1), -1, true), at, -1);
    return keepdims ? y : squeeze(y, at);  // that, or without the axis
  }
  const Tensor dense = x.contiguous();              // (..., n)
  Tensor y = Tensor::empty(x.shape().with(-1, 1));  // (..., 1)
  kernels::logsumexp(raw(dense), raw(y), y.numel(), x.size(-1));
  const Tensor result = Tape::record("logsumexp", {x}, y,
                                     [x = Tape::save(dense)](const Tensor& dy, GradientSink& to) {
                                       to.accumulate(0, softmax(x) * dy);  // (..., n)
                                     });
  return keepdims ? result : squeeze(result, -1);  // (..., 1) or (...)
}

}  // namespace tapestry
