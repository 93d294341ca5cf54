// 11b. The weights of one query
//
// Scores may be any numbers. Softmax turns them into shares, the weights: each above 0, all
// together 1, and the larger the score, the larger the weight:
//
//   weight_j = exp(score_j - m) / (sum over i of exp(score_i - m)),  m the largest score
//
//   scores  (n)
//   ->      (n)
//
// Any m gives the same weights. Without one, exp of a score like 1000 is too large for a number,
// and exp of -1000 is 0. With the largest score as m, the largest term is exp(0) = 1.
// Write it with loops, without the library's softmax. std::exp is in <cmath>.
// Lesson: tutorials/phase1_one_head/README.md, "11 One query, by hand"
#include "phase1.hpp"

namespace learn {

Tensor weights_of_scores(const Tensor& scores) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
