// 36a. What is lost without a link
//
// The last word looks at n words, with some weights. Its head's output is the weighted mean of
// their values, and a matrix makes logits of it. How much does the log-probability of the right
// word fall without one of the links?
//
//   ln p   = logit_right - ln(sum over w of exp(logit_w)),  logits = (weights values) output
//   lost_j = ln p with all links  -  ln p with weight j set to 0
//
// The other weights stay as they are, as in step 36: the row no longer sums to 1 then. Each link is
// cut alone. What is lost is positive if the link helps.
//
//   weights  (n)         values  (n, d)
//   output   (d, vocabulary)
//   right    the id of the right word
//   ->       (n)
//
// Write a function for ln p of some weights, and call it n + 1 times. weights.clone() is a copy
// that may be changed. log_softmax(logits) has the ln p of all words; matmul takes (1, n).
// Lesson: tutorials/phase3_seeing/README.md, 36 Is the map true?
#include "phase3.hpp"

namespace learn {

Tensor lost_without_links(const Tensor& weights, const Tensor& values, const Tensor& output,
                          Index right) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
