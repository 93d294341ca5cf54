// One attention head whose queries, keys and values come from the same sequence.
#pragma once

#include <string>

#include "tapestry/attention.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/module.hpp"

namespace tapestry {

struct SingleHeadAttentionOptions {
  Index d_k = 0;             // width of queries and keys; 0 means d_model
  Index d_v = 0;             // width of values; 0 means d_model
  bool bias = false;         // of all four maps
  bool is_causal = false;    // no position sees a later one
  ScoreOptions scores = {};  // scale and softcap of the scores, as in attention()
  Initializer initializer = init::normal;
};

// With Q = x W_Q, K = x W_K and V = x W_V: y = attention(Q, K, V) W_O
// (Vaswani et al. 2017, section 3.2).
struct SingleHeadAttention : Module {
  Linear query;   // W_Q, (d_model, d_k)
  Linear key;     // W_K, (d_model, d_k)
  Linear value;   // W_V, (d_model, d_v)
  Linear output;  // W_O, (d_v, d_model)
  bool is_causal;
  ScoreOptions scores;

  // Throws Error for a size below 1 (d_k and d_v: below 0), and for a scale or a softcap that
  // attention() refuses.
  SingleHeadAttention(Index d_model, Random& random,
                      const SingleHeadAttentionOptions& options = {});

  // x (..., length, d_model) -> (..., length, d_model). A position sees what `mask` allows and,
  // with `is_causal`, nothing later than itself. The weights are never stored (fused_attention).
  // Throws Error if x does not fit d_model, or the mask does not fit x.
  [[nodiscard]] Tensor operator()(const Tensor& x, const Mask& mask = {}) const;

  // The same with all intermediates: output (..., length, d_model), weights and scores (...,
  // length, length).
  [[nodiscard]] Attention with_weights(const Tensor& x, const Mask& mask = {}) const;

  Members members() const override;

 private:
  void check(const Tensor& x) const;
  Mask visible(const Mask& mask) const { return is_causal ? Mask::causal() & mask : mask; }
};

}  // namespace tapestry
