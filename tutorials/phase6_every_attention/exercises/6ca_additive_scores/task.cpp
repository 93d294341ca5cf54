// 6ca. Scores by a sum in place of a product
//
// The first attention (Bahdanau et al. 2015) did not multiply the asking state s with the state h
// that is looked at. Both are mapped to vectors of the same length c, added, and sent through tanh;
// a vector v makes a number of it. For query i and key j:
//
//   score_ij = sum over c of v_c tanh((s_i W)_c + (h_j U)_c)
//
//   s   (queries, a)
//   h   (keys, b)
//   w   (a, c)
//   u   (b, c)
//   v   (c)
//   ->  (queries, keys)
//
// s_i W + h_j U is another vector for each pair of i and j. s_i W is the same for all keys: make it
// once for all queries (matmul(s, w)), and h_j U once for all keys.
// Lesson: tutorials/phase6_every_attention/4_two_sequences.md, "6c Alignment"
#include <cmath>

#include "phase6.hpp"

namespace learn {

Tensor additive_scores(const Tensor& s, const Tensor& h, const Tensor& w, const Tensor& u,
                       const Tensor& v) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
