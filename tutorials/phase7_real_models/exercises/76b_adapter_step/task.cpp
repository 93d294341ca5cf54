// 76b. A step of training, of the adapter alone
//
// The map of 76a, y = x W + s (x A) B with s = alpha / rank, has to learn. Given the gradient dy of
// the loss by y, the gradients of A and B are
//
//   dA = s x^T (dy B^T)        dB = s (x A)^T dy
//
// and a step of gradient descent takes rate times them from A and B. W stays as it is; it gets no
// gradient, and no memory for one. The layer before still needs the gradient of x, through both
// ways, at the weights before the step:
//
//   dx = dy W^T + s (dy B^T) A^T
//
//   map         w (in, out), a (in, rank), b (rank, out), alpha; a and b become the new ones
//   x, dy       (n, in), (n, out)
//   rate        of the step
//   ->          dx, (n, in)
//
// An adapter begins with B = 0, so that at first it changes nothing: then dA is 0, too, and B moves
// first. If both were 0, neither would ever move.
// Lesson: tutorials/phase7_real_models/3_training.md, "76 Adapters"
#include "phase7.hpp"

namespace learn {

Tensor adapter_step(AdaptedMap& map, const Tensor& x, const Tensor& dy, double rate) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
