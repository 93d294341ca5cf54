// 46b. Top k
//
// Of all words only the k with the largest logits may be drawn. The others get the probability 0,
// exactly; softmax runs over those that are kept, so that their probabilities sum to 1:
//
//   p_j = exp(logit_j) / (sum of exp(logit_i) over the k words kept)   if word j is kept
//         0                                                            if not
//
//   logits  (vocabulary), no two of them equal
//   k       1 to the number of words
//   ->      (vocabulary)
//
// The words stay where they are: the result is not sorted. std::sort, or counting how many logits
// are larger than this one, tells which words are kept.
// Lesson: tutorials/phase4_causal/README.md, 46 Generation
#include "phase4.hpp"

namespace learn {

Tensor top_k_only(const Tensor& logits, Index k) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
