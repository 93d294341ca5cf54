// The matrix product and its two gradients: dA = dC B^T, dB = A^T dC.
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "unrecorded.hpp"

namespace tapestry {
namespace {

void check(const Tensor& a, const Tensor& b) {
  const std::string operands =
      "matmul: a is " + to_string(a.shape()) + ", b is " + to_string(b.shape());
  if (a.rank() < 2 || b.rank() < 2) {
    throw Error(operands +
                ": both must have at least two axes. Did you mean unsqueeze(x, -1) for a column?");
  }
  if (a.size(-1) != b.size(-2)) {
    throw Error(operands + ": a's columns (" + std::to_string(a.size(-1)) +
                ") must equal b's rows (" + std::to_string(b.size(-2)) + ")." +
                (a.size(-1) == b.size(-1) ? " Did you mean transpose(b)?" : "") +
                (a.size(-1) != b.size(-1) && a.size(-2) == b.size(-2)
                     ? " Did you mean transpose(a)?"
                     : ""));
  }
}

Shape leading(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank()) - 2));
}

Shape with_matrix(const Shape& batch, Index rows, Index columns) {
  return batch.inserted(batch.rank(), rows).inserted(batch.rank() + 1, columns);
}

kernels::MatrixView matrix_view(const Tensor& x) {
  const auto last = static_cast<std::size_t>(x.rank()) - 1;
  return {x.data(), x.strides().data(), x.strides()[last - 1], x.strides()[last]};
}

Tensor multiply(const Tensor& a, const Tensor& b) {
  check(a, b);
  const Index m = a.size(-2), k = a.size(-1), n = b.size(-1);
  const Shape batch = broadcast("matmul, leading axes", leading(a.shape()), leading(b.shape()));
  Tensor c = Tensor::uninitialised(with_matrix(batch, m, n));
  const Tensor left = broadcast_view(a, with_matrix(batch, m, k));
  const Tensor right = broadcast_view(b, with_matrix(batch, k, n));
  kernels::matmul({sizes(batch), m, n, k}, matrix_view(left), matrix_view(right), c.data());
  return c;
}

// A^T dC. A weight matrix that all batches share gets one long product, not a sum of many.
Tensor right_gradient(const Tensor& a, const Tensor& dc, int b_rank) {
  if (b_rank > 2 || a.rank() == 2) return multiply(transpose(a), dc);
  const Index rows = leading(a.shape()).count() * a.size(-2);
  return multiply(transpose(reshape(a, {rows, a.size(-1)})), reshape(dc, {rows, dc.size(-1)}));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  const Tensor c = multiply(a, b);
  return Tape::record("matmul", {a, b}, c,
                      [a = Tape::save(a), b = Tape::save(b)](const Tensor& dc, Gate& to) {
                        if (to.wants(0)) to.give(0, multiply(dc, transpose(b)));
                        if (to.wants(1)) to.give(1, right_gradient(a, dc, b.rank()));
                      });
}

}  // namespace tapestry
