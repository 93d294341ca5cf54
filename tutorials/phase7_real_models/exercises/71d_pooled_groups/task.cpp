// 71d. Grouped queries, from a model without
//
// Several heads of queries may share one head of keys and values, which makes the cache smaller
// (6ea). A model that was trained with keys for every head can be changed to that: the heads are
// cut into groups of neighbours, and the columns of W_K that make the keys of a group are the mean
// of those of its heads; the same for W_V (Ainslie et al. 2023). A little training has to follow.
//
//   result(r, g d + c) = mean over the heads h of group g of w(r, h d + c)
//
// With 6 heads and 3 groups, heads 0 and 1 are group 0, 2 and 3 are group 1, 4 and 5 are group 2.
//
//   w        (d_model, heads d): the d columns of head 0, then those of head 1, ...
//   groups   divides heads
//   ->       (d_model, groups d)
// Lesson: tutorials/phase7_real_models/1_tokens_and_parts.md, "71 What changed since 2017"
#include "phase7.hpp"

namespace learn {

Tensor pooled_groups(const Tensor& w, Index heads, Index groups) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
