// 01c. The gradient of broadcasting
//
// In y = x + other, broadcasting may have repeated x. A number of x then stands at several places
// of y, and its gradient is the sum of the gradients at all these places: a tensor that is used
// several times collects a gradient from each use.
//
//   dy      the gradient of y, in y's shape, for example (4, 2, 3)
//   shape   the shape of x, for example (2, 1); x broadcasts to y's shape
//   ->      the gradient of x, in x's shape: here dx(j, 0) = sum over i and k of dy(i, j, k)
//
// So dy is summed along each axis that x lacks, which then disappears, and along each axis where x
// has size 1 and y more, which then keeps size 1. sum(x, axis) drops an axis,
// sum(x, axis, true) keeps it with size 1; you may use these, or loops.
// Lesson: tutorials/phase0_foundations/README.md, "01 Tensors" and "02 The tape"
#include "phase0.hpp"

namespace learn {

Tensor broadcast_backward(const Tensor& dy, const Shape& shape) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
