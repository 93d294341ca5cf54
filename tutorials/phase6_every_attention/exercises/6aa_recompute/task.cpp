// 6aa. A backward pass that kept only the input
//
// A checkpoint keeps the input of some layers and nothing that is made inside them. When the
// backward pass arrives, what is needed inside is computed again. Here a segment has two layers,
// each with a residual connection:
//
//   h = x + tanh(x W1)        y = h + tanh(h W2)
//
// The forward pass kept x. Now the gradient of y arrives; compute the gradients of x, W1 and W2.
// For one layer, b = a + t with t = tanh(a W), the gradient db makes (o: number by number)
//
//   dz = db o (1 - t o t)       dW = a^T dz       da = db + dz W^T
//
//   input      x, (n, d)
//   w1, w2     (d, d) each
//   d_output   the gradient of y, (n, d)
//   ->         the gradients of x, W1 and W2: SegmentGradients (phase6.hpp)
//
// Write it with matmul, transpose, tanh, * and +; a tape is not needed.
// Lesson: tutorials/phase6_every_attention/3_less_memory.md, "6a Checkpoints"
#include "phase6.hpp"

namespace learn {

SegmentGradients segment_backward(const Tensor& input, const Tensor& w1, const Tensor& w2,
                                  const Tensor& d_output) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
