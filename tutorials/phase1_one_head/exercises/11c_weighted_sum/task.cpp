// 11c. The output of one query
//
// Each key has a value: a row of d numbers. The output of a query is the sum of all values, each
// times its weight:
//
//   output_c = sum over j of weights_j values_jc
//
//   weights  (n)
//   values   (n, d)
//   ->       (d)
//
// So a value with the weight 0 adds nothing, and one with the weight 1 is the output.
// Lesson: tutorials/phase1_one_head/README.md, "11 One query, by hand"
#include "phase1.hpp"

namespace learn {

Tensor weighted_sum(const Tensor& weights, const Tensor& values) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
