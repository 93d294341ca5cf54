// 6zc. Capstone: a GPT, its loss and all gradients
//
// A text of n words gives n predictions: at each word, which comes next.
//
//   x      = rows of `words` by ids + the first n rows of `positions`
//   x      = block(x), one block after the other, each with its own BlockTrace
//   logits = layer_norm_forward(x, gain, shift) logits
//   loss   = cross_entropy_forward(logits, targets)
//
// and then the backward pass: cross_entropy_backward, the product, the last norm, the blocks from
// the last to the first, the two tables. The gradient of x reaches both tables: embedding_backward
// gives that of `words`; rows of `positions` that the text did not use get none. Add everything to
// what stands in `gradients`, and return the loss.
//
//   ids, targets   (n)
// When it is right, make capstone trains it.
// Lesson: tutorials/phase6_every_attention/README.md, "The capstone"
#include "gpt.hpp"

namespace learn {

double gpt_loss(const Gpt& w, const Indices& ids, const Indices& targets, Gpt& gradients) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
