// 27e. The gradient of a block
//
// The block of 27d, backward. The gradient dy of its result arrives; that of x is wanted.
//
//   middle = x + attention(attention_norm(x))
//   result = middle + feed_forward(feed_forward_norm(middle))
//
// In y = x + f(x) the rows x act twice: directly, and through f. So dx is dy plus what comes back
// through f. In f = layer(norm(x)) the layer came last, so its backward pass comes first.
//
//   x, dy   (n, d_model)
//   part    the four parts, as in 27d: part.attention(x), ...
//   back    their backward passes: back.attention(x, dy) is the gradient of the rows x that
//           attention read, if dy is the gradient of what it made of them; likewise the other three
//   ->      dx (n, d_model)
//
// Each backward pass needs the rows that its part read. So first go forward and keep them.
// Lesson: tutorials/phase2_many_heads/README.md, "27 The model around attention: a block, built"
#include "phase2.hpp"

namespace learn {

Tensor block_backward(const Tensor& x, const BlockParts& part, const BlockPartsBackward& back,
                      const Tensor& dy) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
