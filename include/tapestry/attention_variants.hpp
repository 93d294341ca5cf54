// Attention for long sequences and for many heads: the same numbers with less memory, and linear
// attention, which is another function.
//
// In all of them q is (..., queries, d_k), k (..., keys, d_k), v (..., keys, d_v); leading axes
// broadcast. They throw Error, naming the operands, if their shapes do not fit.
#pragma once

#include <vector>

#include "tapestry/attention.hpp"

namespace tapestry {

// ---- the same numbers (src/attention/variants.cpp)

// attention(q, k, v, mask).output to rounding, `chunk` queries at a time: at most `chunk` rows of
// the weights exist at once, since the backward pass recomputes them (checkpoint).
// -> (..., queries, d_v). Throws Error for a chunk below 1 or a mask that does not fit.
[[nodiscard]] Tensor chunked_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const Mask& mask = {}, Index chunk = 256);

// Self-attention where a position sees those at most `window` away on either side, as far as `mask`
// allows: attention(q, k, v, Mask::local(window) & mask).output to rounding, with work and memory
// that grow with length * window. Blocks of queries look at their own keys and at `window` keys on
// both sides, so that each query meets every key of its window once. (Windows that overlap by half
// and are all joined, as is often written, give two rows for most queries, and neither of them sees
// the whole window.) -> (..., length, d_v).
// Throws Error if queries and keys differ in number, for a negative window, or as above.
[[nodiscard]] Tensor sliding_window_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                              Index window, const Mask& mask = {});

// Heads that share keys and values: q (..., heads, queries, d_k), k (..., groups, keys, d_k), v
// (..., groups, keys, d_v) -> (..., heads, queries, d_v). Head h reads group h / (heads / groups).
// groups = heads is multi-head attention, fewer are grouped-query attention (Ainslie et al. 2023),
// 1 is multi-query attention (Shazeer 2019). By fused_attention, over views: the forward pass
// copies no key or value. A mask counts batch elements before the heads; without such an axis there
// is one. Throws Error unless groups divide heads, and for more than five axes.
[[nodiscard]] Tensor grouped_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const Mask& mask = {}, const ScoreOptions& how = {});

// ---- linear attention (src/attention/linear.cpp; Katharopoulos et al. 2020)
//
// Weights are made of products phi(q) . phi(k) in place of exp(q . k / sqrt(d_k)), divided by their
// sum over keys; phi(x) = elu(x) + 1 is positive, so they are weights. The sums over keys then do
// not depend on the query, and are computed once for all:
//   y_i = phi(q_i) S / (phi(q_i) . z),  S = sum_j phi(k_j)^T v_j,  z = sum_j phi(k_j)
// Time and memory grow with the length, not with its square. It is not softmax attention, nor an
// approximation of it: largest_difference() of the two tells how far they are apart.
// A query without visible keys gets zeros, as in attention(), and so does one whose products all
// underflow (below e^-87 or so, in float). There is no 1e-8 in the divisor: it would distort small
// weights.

// The explicit form, with all weights and for any mask: Attention.weights (..., queries, keys) sum
// to 1 or 0, Attention.scores are phi(q) . phi(k). Uses as much memory as softmax attention. The
// functions below agree with its output to rounding.
[[nodiscard]] Attention explicit_linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                  const Mask& mask = {});

// All queries see all keys -> (..., queries, d_v). Of batch element b only the first lengths[b]
// keys are real, if lengths are given. Throws Error for lengths that do not fit.
[[nodiscard]] Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const std::vector<Index>& lengths = {});

// The state of causal linear attention after some positions; its size does not depend on how many.
// Initially empty.
struct LinearAttentionState {
  Tensor sums;  // (..., d_k, d_v + 1): S, and z as its last column
};

// A query sees the keys at its own position and before -> (..., length, d_v). In parallel: 64
// positions at a time by their weights, earlier ones by prefix sums of S and z. With a state, q, k
// and v hold positions that follow those in it, and are added to it: by single positions this is
// the recurrent form (a transformer as a recurrent network), which can continue after a text read
// in parallel. Gradients flow through the state. Throws Error if there are not as many queries as
// keys, for a state of other sizes, and for more than five axes.
[[nodiscard]] Tensor causal_linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                             LinearAttentionState* state = nullptr);

}  // namespace tapestry
