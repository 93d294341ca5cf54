// 16b. The gradient of attention: queries and keys
//
// The rest of the backward pass. dweights is known from 16a; the weights were made by
//
//   scores  = q k^T / sqrt(d)
//   weights = softmax of each row of scores
//
// Softmax first: a score raises its own weight and lowers the others of its row, so that
//
//   dscores_ij = weights_ij (dweights_ij - sum over l of weights_il dweights_il)
//
// Then the product: score_ij has q_ic as a factor beside k_jc / sqrt(d), and the reverse:
//
//   dq_ic = (sum over j of dscores_ij k_jc) / sqrt(d)
//   dk_jc = (sum over i of dscores_ij q_ic) / sqrt(d)
//
//   q, k                (n, d)
//   weights, dweights   (n, n)
//   ->                  ScoreGradients with dq (n, d) and dk (n, d): return {a, b};
//
// Write it with loops or matrix products, without a Tape; the judge compares with a tape's.
// Lesson: tutorials/phase1_one_head/README.md, "16 The way back: gradients by hand"
#include "phase1.hpp"

namespace learn {

ScoreGradients scores_backward(const Tensor& q, const Tensor& k, const Tensor& weights,
                               const Tensor& dweights) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
