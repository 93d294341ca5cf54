// 07b. Adam
//
// Write one step of Adam. It remembers, for each weight, a running mean of the gradients and one of
// their squares. Both begin at 0 and so are too small at first; dividing by 1 - beta^t corrects
// that, where t is 1 in the first step, 2 in the second:
//
//   t       = t + 1
//   mean    = 0.9 mean + 0.1 gradient
//   square  = 0.999 square + 0.001 gradient^2
//   weight  = weight - rate * (mean / (1 - 0.9^t)) / (sqrt(square / (1 - 0.999^t)) + 1e-8)
//
//   weight     (n), becomes the new weight
//   gradient   (n), at the weight
//   memory     struct AdamMemory { Tensor mean, square; Index steps; } is given: two tensors (n)
//              and t, all 0 before the first step; becomes that of the next step
//
// The check makes several steps with one memory, and looks at the weights after each. Operations
// of the library are allowed: sqrt(x) takes tensors, std::pow(0.9, t) is in <cmath>.
// Lesson: tutorials/phase0_foundations/README.md, "07 Momentum and Adam"
#include "phase0.hpp"

namespace learn {

void adam_step(Tensor& weight, const Tensor& gradient, AdamMemory& memory, double rate) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
