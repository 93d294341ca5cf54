// 04d. The gradient of cross-entropy
//
// The gradient of the mean loss of 04c by the logits. The two complicated slopes, of the logarithm
// and of softmax, cancel, and what is left is the error of the probabilities:
//
//   dx_ij = (p_ij - 1) / n   if j is the target of row i
//   dx_ij =  p_ij / n        otherwise,                     where p = softmax(logits), row by row
//
//   logits    (n, m)
//   targets   n whole numbers: targets.values[i] is the right class of row i
//   ->        (n, m), each row sums to 0
//
// Logits may be large again. softmax(logits) of the library is stable; use it, or what you wrote
// in 04a.
// Lesson: tutorials/phase0_foundations/README.md, "04 Softmax" and "02 The tape"
#include "phase0.hpp"

namespace learn {

Tensor cross_entropy_backward(const Tensor& logits, const Indices& targets) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
