// 05c. A gradient by differences
//
// A gradient can be checked without knowing how it was computed: move one number a little to both
// sides, and see how much the result changes. This is a *central difference*:
//
//   g_ij = (f(x with x_ij + h) - f(x with x_ij - h)) / (2 h)
//
// All other numbers of x stay what they are.
//
//   f    a function from a tensor to a number; call it as f(x)
//   x    (n, m), must not change: a Tensor shares its numbers with its copies; x.clone() does not
//   h    a small number, such as 0.1
//   ->   (n, m)
//
// Differences are slow, since they compute f twice for each number; but they are hard to get wrong,
// so that they can judge a gradient that is fast.
// Lesson: tutorials/phase0_foundations/README.md, "02 The tape"
#include "phase0.hpp"

namespace learn {

Tensor numerical_gradient(const NumberOf& f, const Tensor& x, double h) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
