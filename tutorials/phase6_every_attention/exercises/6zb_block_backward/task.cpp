// 6zb. Capstone: a block of a GPT, backward
//
// The block of 6za from its end to its beginning. dy is the gradient of the loss at its output.
// Each line of the forward pass becomes one or two lines; what had two uses gets two gradients,
// added:
//
//   y = middle + (active down + down_bias)   dmiddle begins as dy
//   active = gelu(up),  up = seen2 up + up_bias
//   seen2 = norm(middle)                     adds to dmiddle
//   middle = x + mixed output                dx begins as dmiddle
//   each head: mixed = weights v             mixture_backward
//              weights = softmax(q k^T / root)   scores_backward, which knows the root
//   q, k, v = seen query, ...                dseen is a sum of three
//   seen = norm(x)                           adds to dx
//
// Add the gradients of all weights to what stands in `gradients`: add_to(gradients.down, ...).
// Products come back by matmul_backward, biases by broadcast_backward(dy, bias.shape()).
//
//   dy   (n, d)
//   ->   dx, (n, d)
// Lesson: tutorials/phase1_one_head/README.md, "The way back: gradients by hand"
#include "gpt.hpp"

namespace learn {

Tensor gpt_block_backward(const GptBlock& w, const BlockTrace& kept, const Tensor& dy,
                          GptBlock& gradients) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
