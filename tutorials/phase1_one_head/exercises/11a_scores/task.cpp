// 11a. The scores of one query
//
// A query meets each key: how well do they fit? The score of key j is the dot product of the two,
// divided by the square root of their length d:
//
//   score_j = (sum over c of query_c keys_jc) / sqrt(d)
//
//   query   (d)
//   keys    (n, d)
//   ->      (n)
//
// query.at({c}) reads a number, result.set({j}, x) writes one; Tensor::zeros({n}) makes a tensor.
// Lesson: tutorials/phase1_one_head/README.md
#include "phase1.hpp"

namespace learn {

Tensor scores(const Tensor& query, const Tensor& keys) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
