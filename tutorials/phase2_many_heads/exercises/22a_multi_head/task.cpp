// 22a. Multi-head attention
//
// Each head attends with its own part of the queries, keys and values. Four matrices are given:
// three make the queries, keys and values of all heads at once, the fourth mixes what the heads
// found.
//
//   q, k, v  = x w.query, x w.key, x w.value           (n, d_model) each
//   split    each into heads                           (heads, n, d), d = d_model / heads
//   each head: softmax(q k^T / sqrt(d)) v              (heads, n, d)
//   join     the heads                                 (n, d_model)
//   result   = joined w.output                         (n, d_model)
//
//   x        (n, d_model)
//   w        four matrices, (d_model, d_model) each
//   heads    divides d_model
//
// matmul, transpose(x) and softmax(x) work on the last axes, for all heads at once. You may use
// the library's split_heads(x, heads) and concat_heads(x), which are 21a and 21b; but not its
// attention().
// Lesson: tutorials/phase2_many_heads/README.md, "22 A loop, or one matrix"
#include "phase2.hpp"

namespace learn {

Tensor multi_head_forward(const Tensor& x, const HeadMatrices& w, Index heads) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
