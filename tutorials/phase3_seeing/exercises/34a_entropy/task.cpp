// 34a. The entropy of a row
//
// How evenly does a query look? The entropy of its row of weights says it, in nats, that is with
// the natural logarithm:
//
//   entropy_i = - sum over j of  weights_ij ln weights_ij,   with 0 ln 0 = 0
//
// It is 0 if all weight lies on one key, and ln m if it is spread evenly over m keys. Hidden keys
// have the weight 0, so the 0 ln 0 comes in every causal map.
//
//   weights  (n, m)
//   ->       (n)
//
// std::log needs <cmath>.
// Lesson: tutorials/phase3_seeing/README.md, 34 From layer to layer
#include "phase3.hpp"

namespace learn {

Tensor entropy_of_rows(const Tensor& weights) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
