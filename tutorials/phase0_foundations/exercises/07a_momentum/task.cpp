// 07a. Momentum
//
// Write one step of gradient descent with momentum. It goes along a sum of the gradients so far, in
// which older ones fade, the velocity:
//
//   velocity = momentum * velocity + gradient
//   weight   = weight - rate * velocity
//
//   weight     (n), becomes the new weight
//   gradient   (n), at the weight
//   velocity   (n), 0 before the first step; becomes the new velocity
//   momentum   a number from 0 to 1, often 0.9
//
// The check makes several steps, with the velocity that you left, and looks at the weights after
// each. Operations of the library are allowed: weight = weight - rate * velocity; is fine.
// Lesson: tutorials/phase0_foundations/README.md, "07 Momentum and Adam"
#include "phase0.hpp"

namespace learn {

void momentum_step(Tensor& weight, const Tensor& gradient, Tensor& velocity, double rate,
                   double momentum) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
