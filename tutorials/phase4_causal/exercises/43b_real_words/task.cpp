// 43b. The loss over real words only
//
// At each place the model gives a logit for every word. The loss of a place is -ln of the
// probability of its target:
//
//   loss_ri = ln(sum over w of exp(logits_riw)) - logits_ri,target
//
// Places with the target -1 are padding and do not count. The loss of the batch is the mean over
// all other places, of all rows together: their sum divided by their number. If there is none, the
// loss is 0.
//
//   logits   (rows, n, vocabulary)
//   targets  (rows, n) of ids, row after row in targets.values
//   ->       a number
//
// logits.at({r, i, w}) reads a logit. (These logits are small: exp of them is finite.)
// Lesson: tutorials/phase4_causal/README.md, 43 The next word
#include "phase4.hpp"

namespace learn {

double loss_of_words(const Tensor& logits, const Indices& targets) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
