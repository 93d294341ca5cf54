// 04a. Softmax of each row
//
// Softmax makes weights of scores: positive numbers that sum to 1 in each row.
//
//   y_ij = exp(x_ij - m_i) / (sum over k of exp(x_ik - m_i)),   m_i = the largest x_ik of row i
//
//   scores   (n, m)
//   ->       (n, m), each row sums to 1
//
// Without m_i the formula has the same value, but exp of a score above 88 is too large for a float
// and above 709 for a double. The check has such scores, and very negative ones, too. All scores
// are finite. Write the loops, without the library's softmax; std::exp is in <cmath>.
// Lesson: tutorials/phase0_foundations/README.md, "04 Softmax"
#include "phase0.hpp"

namespace learn {

Tensor softmax_forward(const Tensor& scores) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
