// 63a. Causal linear attention, by sums that grow
//
// Linear attention takes phi(q_i) . phi(k_j) in place of exp(q_i . k_j / sqrt(d)); no root divides
// it. phi works on each number: phi(x) = x + 1 if x > 0, else exp(x); so it is above 0. The output
// of query i is the mean of the values, weighted by these products, over the keys j <= i:
//
//   y_i = (sum over j <= i of (phi(q_i) . phi(k_j)) v_j) / (sum over j <= i of phi(q_i) . phi(k_j))
//
// The query can be taken out of both sums. So nobody has to compare all pairs: go through the words
// once and carry along S and z, which hold all that is known of the keys so far.
//
//   S[c, e] = sum over j <= i of phi(k_j)[c] v_j[e]        z[c] = sum over j <= i of phi(k_j)[c]
//   y_i[e]  = (sum over c of phi(q_i)[c] S[c, e]) / (sum over c of phi(q_i)[c] z[c])
//
//   q, k   (length, d)
//   v      (length, d_v)
//   ->     (length, d_v)
//
// Lesson: tutorials/phase6_every_attention/2_fewer_pairs.md, "63 Linear attention"
#include <cmath>
#include <vector>

#include "phase6.hpp"

namespace learn {

Tensor prefix_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
