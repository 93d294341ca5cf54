// The matrix product and its two gradients, dA = dC B^T and dB = A^T dC; and the same with a bias
// and an activation.
#include "ops/activation.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

using kernels::active;

namespace {

void check(const Tensor& a, const Tensor& b) {
  const std::string operands =
      "matmul: a is " + to_string(a.shape()) + ", b is " + to_string(b.shape());
  if (a.ndim() < 2 || b.ndim() < 2) {
    const std::string hint = a.ndim() == 1   ? " Did you mean unsqueeze(a, 0), a row?"
                             : b.ndim() == 1 ? " Did you mean unsqueeze(b, -1), a column?"
                                             : "";
    throw Error(operands + ": both must have at least two axes." + hint);
  }
  if (a.size(-1) != b.size(-2)) {
    const std::string hint = a.size(-1) == b.size(-1)   ? " Did you mean transpose(b)?"
                             : a.size(-2) == b.size(-2) ? " Did you mean transpose(a)?"
                                                        : "";
    throw Error(operands + ": a's columns (" + std::to_string(a.size(-1)) +
                ") must equal b's rows (" + std::to_string(b.size(-2)) + ")." + hint);
  }
}

kernels::MatrixView matrix_view(const Tensor& x) {
  const auto last = static_cast<std::size_t>(x.ndim()) - 1;
  return {raw(x), x.strides().data(), x.strides()[last - 1], x.strides()[last]};
}

// The result of a product, and its operands broadcast over the whole batch.
struct Operands {
  kernels::MatmulShape shape;
  Tensor a, b, c;

  Operands(const Tensor& left, const Tensor& right) {
    const Index m = left.size(-2), k = left.size(-1), n = right.size(-1);
    const Shape batch = broadcast_shapes("matmul, leading axes", leading(left), leading(right));
    shape = {sizes(batch), m, n, k};
    a = broadcast_view(left, with_matrix(batch, m, k));   // (..., m, k)
    b = broadcast_view(right, with_matrix(batch, k, n));  // (..., k, n)
    c = Tensor::empty(with_matrix(batch, m, n));          // (..., m, n)
  }
};

Tensor multiply(const Tensor& a, const Tensor& b) {
  const Operands x(a, b);
  kernels::matmul(x.shape, matrix_view(x.a), matrix_view(x.b), raw(x.c));
  return x.c;  // (..., m, n)
}

// A^T dC for a matrix that all batches share: one long product, not a sum of many.
Tensor shared_gradient(const Tensor& a, const Tensor& dc) {
  const Index rows = leading(a).numel() * a.size(-2);
  // (k, rows) times (rows, n): (k, n)
  return multiply(transpose(reshape(a, Shape{rows, a.size(-1)})),
                  reshape(dc, Shape{rows, dc.size(-1)}));
}

// `saved` if the gradient by `input` needs it, else undefined.
Saved save_for(const Tensor& input, const Tensor& saved) {
  return Tape::needs_gradient(input) ? Tape::save(saved) : Saved();
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a, b);
  const Tensor c = multiply(a, b);  // (..., m, n)
  return Tape::record("matmul", {a, b}, c,
                      [a = save_for(b, a), b = save_for(a, b), shared = b.ndim() == 2](
                          const Tensor& dc, GradientSink& to) {
                        // (..., m, k)
                        if (to.needs_gradient(0)) to.accumulate(0, multiply(dc, transpose(b)));
                        if (!to.needs_gradient(1)) return;
                        // (k, n) if shared, else (..., k, n)
                        to.accumulate(1,
                                      shared ? shared_gradient(a, dc) : multiply(transpose(a), dc));
                      });
}

namespace {

void check(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const std::string operands =
      "linear: x is " + to_string(x.shape()) + ", weight is " + to_string(weight.shape());
  if (weight.ndim() != 2) throw Error(operands + ": the weight must have two axes, (in, out).");
  if (x.ndim() < 1 || x.size(-1) != weight.size(0)) {
    throw Error(operands + ": x's last axis must equal the weight's rows (" +
                std::to_string(weight.size(0)) + ").");
  }
  if (bias.defined() && bias.shape() != Shape{weight.size(1)}) {
    throw Error(operands + ", bias is " + to_string(bias.shape()) +
                ": the bias must have one axis, as long as the weight has columns (" +
                std::to_string(weight.size(1)) + ").");
  }
}

}  // namespace

ActivationKernels kernels_of(Activation activation) {
  return with_function(activation, ActivationKernels(), []<class F>(F) {
    return ActivationKernels{active().of<F>(), active().backward_of<F>(), F::saves_output};
  });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  check(x, weight, bias);
  if (x.ndim() == 1) return squeeze(linear(unsqueeze(x, 0), weight, bias, activation), 0);  // (out)
  const bool recorded =
      Tape::needs_gradient(x) || Tape::needs_gradient(weight) || Tape::needs_gradient(bias);
  const Operands p(x, weight);  // a (..., in), b (..., in, out), c (..., out)
  const ActivationKernels kernel = kernels_of(activation);
  const bool keep_c = recorded && !kernel.saves_output;
  const Tensor b = bias.defined() ? bias.contiguous() : bias;  // (out)
  const Tensor y = keep_c ? Tensor::empty(p.c.shape()) : p.c;  // (..., out)
  kernels::linear(p.shape, matrix_view(p.a), matrix_view(p.b),
                  {bias.defined() ? raw(b) : nullptr, kernel.function, raw(y)}, raw(p.c));
  if (!recorded) return y;
  const Saved slope = activation == Activation::none ? Saved() : Tape::save(keep_c ? p.c : y);
  return Tape::record("linear", {x, weight, bias}, y,
                      [x = save_for(weight, x), weight = save_for(x, weight), slope,
                       backward = kernel.backward](const Tensor& dy, GradientSink& to) {
                        // (..., out)
                        const Tensor dc = backward == nullptr ? dy : apply(backward, dy, slope);
                        // (..., in)
                        if (to.needs_gradient(0)) to.accumulate(0, multiply(dc, transpose(weight)));
                        // (in, out)
                        if (to.needs_gradient(1)) to.accumulate(1, shared_gradient(x, dc));
                        to.accumulate(2, dc);
                      });
}

}  // namespace tapestry
