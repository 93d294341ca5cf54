// 07c. AdamW: weights that decay
//
// Weights that the loss does not need should be small. *Weight decay* makes every weight a little
// smaller in each step. AdamW does so beside Adam's step, and does not mix the two:
//
//   weight = weight - rate * decay * weight - (Adam's step, as in 07b, by the gradient as it is)
//
// The weight on the right is the one before the step, in both places.
//
//   weight     (n), becomes the new weight
//   gradient   (n), at the weight
//   memory     as in 07b
//   decay      often 0.01 to 0.1
//
// If decay * weight were added to the gradient instead, Adam would divide it by the root of the
// mean square: weights with large gradients would hardly decay.
// Lesson: tutorials/phase0_foundations/README.md, "07 Momentum and Adam"
#include "phase0.hpp"

namespace learn {

void adamw_step(Tensor& weight, const Tensor& gradient, AdamMemory& memory, double rate,
                double decay) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
