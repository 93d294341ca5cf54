// 27d. A block
//
// A block of a transformer is attention and a feed-forward layer. Each reads rows that went
// through a layer norm, and what it makes is added to the rows as they were: a residual
// connection.
//
//   middle = x + attention(attention_norm(x))
//   result = middle + feed_forward(feed_forward_norm(middle))
//
//   x      (n, d_model)
//   part   the four parts, as functions from (n, d_model) to (n, d_model):
//          part.attention_norm(x), part.attention(x), part.feed_forward_norm(x),
//          part.feed_forward(x)
//   ->     (n, d_model)
//
// This order, each norm before its layer, is called pre-norm.
// Lesson: tutorials/phase2_many_heads/README.md, "27 The model around attention: a block, built"
#include "phase2.hpp"

namespace learn {

Tensor block_forward(const Tensor& x, const BlockParts& part) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
