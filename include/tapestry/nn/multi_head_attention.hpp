// Several attention heads in parallel, each with its own maps.
#pragma once

#include <optional>
#include <string>

#include "tapestry/attention.hpp"
#include "tapestry/nn/forward_context.hpp"
#include "tapestry/nn/key_value_cache.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/nn/self_attention.hpp"

namespace tapestry {

struct MultiHeadAttentionOptions {
  Index d_k = 0;        // width of a head's queries and keys; 0 means d_model / num_heads
  Index d_v = 0;        // width of a head's values; 0 means d_model / num_heads
  Index d_context = 0;  // width of the input of keys and values; 0 means d_model
  // Number of key/value heads, which query heads share evenly: fewer make the cache smaller
  // (grouped-query attention; Ainslie et al. 2023), 1 is multi-query attention (Shazeer 2019). 0
  // means `num_heads`. x then has at most four axes.
  Index num_key_value_heads = 0;
  bool bias = false;                     // of all four maps
  std::optional<bool> output_bias = {};  // of the output map, if it is not like the others
  bool is_causal = false;                // no position sees a later one
  Index window = 0;          // a position sees itself and window - 1 on either side; 0 means all
  double dropout = 0;        // of the weights, while training; in [0, 1)
  ScoreOptions scores = {};  // scale and softcap of the scores, as in attention()
  // rotary, relative or alibi; the others are added to x, outside the layer, and refused here
  Positions positions = Positions::none;
  RotaryOptions rotary = {};  // only if they are rotary
  Initializer initializer = init::normal;
};

// MultiHead(x) = concatenate(head_1, ..., head_h) W_O
//       head_i = attention(x W_Q_i, c W_K_i, c W_V_i)
// (Vaswani et al. 2017, section 3.2.2); c is x itself (self-attention) or a context
// (cross-attention). The maps of all heads are side by side in one matrix: head i owns columns
// i d_k to (i + 1) d_k of W_Q and W_K, likewise d_v of W_V, and the rows i d_v to (i + 1) d_v of
// W_O.
struct MultiHeadAttention : Module {
  Linear query;   // (d_model, num_heads d_k)
  Linear key;     // (d_context, num_key_value_heads d_k)
  Linear value;   // (d_context, num_key_value_heads d_v)
  Linear output;  // (num_heads d_v, d_model)
  Index num_heads;
  Index num_key_value_heads;  // head i reads number i / (num_heads / num_key_value_heads)
  bool is_causal;
  Index window;  // 0: all
  double dropout;
  ScoreOptions scores;
  Positions positions;
  RotaryOptions rotary;
  std::optional<RelativeBias> relative;  // if positions are relative

  // Throws Error for a size below 1, heads that do not divide d_model (unless d_k and d_v are
  // given), num_key_value_heads that do not divide heads, a dropout outside [0, 1), a scale or
  // a softcap that attention() refuses, a negative window, learned or sinusoidal positions, for
  // rotary ones a width that is odd, negative or above d_k, or a base that is not above 0, and for
  // others rotary options.
  MultiHeadAttention(Index d_model, Index num_heads, Random& random,
                     const MultiHeadAttentionOptions& options = {});

  // Self-attention: x (..., length, d_model) -> the same shape. A position sees what `mask` allows
  // and the window and, with `is_causal`, nothing later than itself. While training, weights are
  // dropped. With a
  // cache, x holds positions that follow those in the cache: they are added to it, and see it; x
  // must then be (batch, length, d_model). Positions are counted from 0, with a cache from its
  // length on. Weights are stored (attention instead of fused_attention) with need_weights, when
  // they are dropped, and with relative positions or ALiBi. Records for Capture: query (..., heads,
  // length, d_k), key, value (..., key-value heads, keys, width), rotated if rotary; scores (with
  // the bias of relative positions or ALiBi) and weights (..., heads, length, keys), where they are
  // stored; heads (..., heads, length, d_v) and output. x without leading axes counts as a batch of
  // one. Throws Error if x does not fit d_model, or mask or cache do not fit x; the cache is then
  // unchanged.
  Tensor operator()(const Tensor& x, const Mask& mask = {}, const ForwardContext& pass = {}) const;

  // Cross-attention: queries from x (..., length, d_model), keys and values from context
  // (..., keys, d_context) -> (..., length, d_model). With `is_causal`, query i sees keys 0 to i.
  // Throws Error as above, for a cache, and for rotary, relative and alibi, which need distances
  // within one sequence, as a window does.
  Tensor cross_attend(const Tensor& x, const Tensor& context, const Mask& mask = {},
                      const ForwardContext& pass = {}) const;

  // Recorded keys or values (..., num_key_value_heads, keys, width), once for each
  // head that reads them: (..., num_heads, keys, width).
  [[nodiscard]] Tensor by_heads(const Tensor& x) const;

  // One head alone, with copies of its weights: columns of W_Q, W_K and W_V, rows of W_O. The
  // outputs of all heads add up to operator() (Elhage et al. 2021). Its output has no bias; the
  // layer's is added once. Throws Error for a head out of range, if d_context is not d_model, and
  // for rotary, relative and alibi, which SingleHeadAttention lacks.
  [[nodiscard]] SingleHeadAttention head(Index number) const;

  Members members() const override;

 private:
  void refuse_distances(const char* what) const;
  Tensor turned(const Tensor& x, Index first) const;
  Tensor distance_bias(Index queries, Index keys, Index first) const;
  Tensor mix(
      const Tensor& queries, const Tensor& keys, const Tensor& values, const Mask& mask,
      const ForwardContext& pass,
      const Tensor& bias) const;  // (..., num_heads, length, width) -> (..., length, d_model)
};

}  // namespace tapestry
