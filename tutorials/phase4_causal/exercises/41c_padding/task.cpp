// 41c. Attention with two masks
//
// Texts of a batch are filled up with padding, in front or behind. Attention must look at no word
// to come, and at no padding. Query i may attend to key j if both masks allow it:
//
//   allowed_ij = j <= i  and  words_j = 1
//   weights    = softmax of each row of  q k^T / sqrt(d),  over the allowed keys
//   output     = weights v
//
//   q, k, v  (n, d)
//   words    (n): 1 = a word, 0 = padding
//   ->       (n, d)
//
// A mask hides keys, not queries: a padded position still asks. Where it sees nothing, its output
// is zeros. You may use the library as the lesson does: where(allowed, scores, -infinity) writes
// -infinity where allowed is 0, and softmax(x) makes zeros of a row of -infinity.
// Lesson: tutorials/phase4_causal/README.md, 41 The mask: "Combine"
#include "phase4.hpp"

namespace learn {

Tensor masked_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& words) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
