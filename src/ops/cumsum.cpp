// Running sums along one axis.
#include "kernels/axis.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

Tensor running_sums(const Tensor& x, int axis, bool from_the_end) {
  const Tensor dense = x.contiguous(), y = Tensor::empty(x.shape());
  const auto [outer, length, inner] = around(x.shape(), axis);
  kernels::cumsum(raw(dense), outer, length, inner, from_the_end, raw(y));
  return y;
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) {
  const int at = normalized_axis("cumsum", axis, x.ndim());
  return Tape::record(
      "cumsum", {x}, running_sums(x, at, false), [at](const Tensor& dy, GradientSink& to) {
        to.accumulate(0, running_sums(dy, at, true));  // an x is in all sums after it
      });
}

}  // namespace tapestry
