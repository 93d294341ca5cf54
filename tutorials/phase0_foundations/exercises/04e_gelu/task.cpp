// 04e. GELU and its gradient
//
// Between the two matrices of a feed-forward layer stands a nonlinear function of each number.
// GPT-2's is GELU, in the form with tanh:
//
//   u = c (x + 0.044715 x^3),   c = sqrt(2 / pi) = 0.7978845608...
//   y = x/2 (1 + tanh(u))
//
// For large x it is nearly x, for very negative x nearly 0. By the product rule and the chain rule,
// with t = tanh(u), its slope is
//
//   dy/dx = (1 + t)/2 + x/2 (1 - t^2) c (1 + 3 * 0.044715 x^2)
//
// gelu_backward gets the gradient dy of the output, and returns dy times the slope at x.
//
//   x, dy   (n, m) each
//   ->      (n, m) each
// Lesson: tutorials/phase0_foundations/README.md, "02 The tape"; phase 2 uses GELU in its block
#include "phase0.hpp"

namespace learn {

Tensor gelu_forward(const Tensor& x) {
  // Yours.
  not_written_yet();
}

Tensor gelu_backward(const Tensor& dy, const Tensor& x) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
