// 6ea. Heads that share keys and values
//
// To save memory, several heads of queries share one head of keys and values. The heads are cut
// into groups of neighbours, all equally large: with 6 heads and 3 groups, heads 0 and 1 read
// group 0, heads 2 and 3 group 1, heads 4 and 5 group 2. Apart from that each head is attention as
// always:
//
//   output_h = softmax(Q_h K_g^T / sqrt(d)) V_g,  where g is the group that head h reads
//
//   q    (heads, queries, d)
//   k    (groups, keys, d), groups divides heads
//   v    (groups, keys, d_v)
//   ->   (heads, queries, d_v)
//
// slice(q, 0, h, h + 1) is head h of q as (1, queries, d); matmul, transpose and softmax work on it
// as on a matrix, and concat(list, 0) joins a std::vector of such tensors.
// Lesson: tutorials/phase6_every_attention/2_fewer_pairs.md, "6e Heads that share keys and values"
#include <cmath>
#include <vector>

#include "phase6.hpp"

namespace learn {

Tensor grouped_queries(const Tensor& q, const Tensor& k, const Tensor& v) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
