// 41b. Softmax of rows with hidden keys
//
// Each row of scores becomes weights, over the keys that may be seen. A hidden key gets the weight
// 0, exactly, and the others of its row share the whole:
//
//   weight_ij = exp(score_ij) / (sum of exp(score_ik) over the k that query i may see)
//
//   scores   (n, m)
//   allowed  (n, m): 1 = may attend, 0 = may not
//   ->       (n, m)
//
// A row may have nothing to see, for example in a text of padding only. Its weights are zeros.
// Subtract the largest visible score of the row before exp, so that exp stays finite. Write the
// loops yourself; scores.at({i, j}) reads a number.
// Lesson: tutorials/phase4_causal/README.md, 41 The mask: "Why minus infinity?"
#include "phase4.hpp"

namespace learn {

Tensor masked_softmax(const Tensor& scores, const Tensor& allowed) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
