// 04c. Cross-entropy
//
// A model gives a score to each class, a *logit*; softmax makes probabilities of them. The loss of
// a row is -ln(the probability of the right class), and the loss of all rows is the mean:
//
//   loss = 1/n (sum over i of -ln softmax(row i)[t_i])
//
//   logits    (n, m): n rows, m classes
//   targets   n whole numbers: targets.values[i] is the right class t_i of row i, from 0 to m - 1
//   ->        a number
//
// Computed in this order, the logarithm of a probability that has become 0 is infinite. Therefore
// simplify before you write: with m_i, the largest logit of row i,
//
//   -ln softmax(row i)[t] = m_i + ln(sum over j of exp(x_ij - m_i)) - x_it
//
// Lesson: tutorials/phase0_foundations/README.md, "04 Softmax"
#include "phase0.hpp"

namespace learn {

double cross_entropy_forward(const Tensor& logits, const Indices& targets) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
