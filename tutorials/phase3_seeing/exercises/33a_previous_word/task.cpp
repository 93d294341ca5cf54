// 33a. The previous word, beside its baseline
//
// How much does a head look at the word before? Row i of its weights is query i, and the word
// before it is key i - 1; row 0 has none and does not count. Even weights would look there, too: in
// a causal model query i sees the i + 1 keys 0 to i, each with 1 / (i + 1). So the score of a head
// is what it has more than that, the mean over the rows 1 to n - 1:
//
//   score_h = (sum over i = 1 ... n - 1 of  weights_h,i,i-1 - 1 / (i + 1)) / (n - 1)
//
//   weights  (heads, n, n), rows sum to 1, 0 above the diagonal
//   ->       (heads)
//
// weights.at({h, i, j}) reads a number. A whole number divided by a whole number is rounded down in
// C++: write 1.0 / double(i + 1).
// Lesson: tutorials/phase3_seeing/README.md, 33 Names for heads
#include "phase3.hpp"

namespace learn {

Tensor previous_word_scores(const Tensor& weights) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
