// Unrecorded arithmetic on tensors, of which the tape and the operations are made.
#pragma once

#include "kernels/parallel_all.hpp"
#include "tapestry/tensor.hpp"
#include "tensor/raw.hpp"

namespace tapestry {

kernels::Sizes sizes(const Shape& shape);

// A view of x with a larger shape that it broadcasts to: repeated axes get stride 0.
Tensor broadcast_view(const Tensor& x, const Shape& shape);

// f(x) elementwise; the result is contiguous and shaped like x.
Tensor apply(kernels::Unary f, const Tensor& x);

// f(dy, saved) elementwise, both of one shape.
Tensor apply(kernels::UnaryBackward f, const Tensor& dy, const Tensor& saved);

// f(a, b) elementwise with broadcasting; `operation` begins the message if shapes do not fit.
Tensor apply(const char* operation, kernels::Binary f, const Tensor& a, const Tensor& b);

// y = y + x in place, x broadcasting to y; y must be contiguous and its buffer unshared.
void add_to(Tensor& y, const Tensor& x);

// Sums x over the axes along which `shape` was broadcast to x's shape: the gradient of
// broadcasting. Throws Error naming `operation` if shape does not broadcast to x's.
Tensor sum_to(const char* operation, const Tensor& x, const Shape& shape);

// Of a stack of matrices (..., m, n): its axes but the last two, and these with a matrix again.
Shape leading(const Tensor& x);
Shape with_matrix(const Shape& leading, Index rows, Index columns);

// A tensor as (outer, length, inner) around one axis.
struct Around {
  Index outer, length, inner;
};
Around around(const Shape& shape, int axis);

// How many rows the last axis of x makes; none where it is empty.
Index rows_in(const Tensor& x);

// The axes of x in the order given, without copying.
Tensor permuted_view(const Tensor& x, std::span<const int> order);

}  // namespace tapestry
