// 46a. Temperature
//
// Before a word is drawn, its logits are divided by a temperature T, and then softmax makes
// probabilities of them:
//
//   p_j = exp(logit_j / T) / (sum over k of exp(logit_k / T))
//
// T below 1 makes likely words likelier, T above 1 makes all words more alike. T is larger than 0,
// but it may be small, as 0.01: subtract the largest logit first, so that exp stays finite.
//
//   logits  (vocabulary)
//   ->      (vocabulary)
//
// Write the loops; std::exp needs <cmath>.
// Lesson: tutorials/phase4_causal/README.md, 46 Generation
#include "phase4.hpp"

namespace learn {

Tensor at_temperature(const Tensor& logits, double temperature) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
