// One layer of a transformer: self-attention, then feed-forward, each with a residual connection.
#pragma once

#include <optional>
#include <string>

#include "tapestry/nn/feed_forward.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/norm.hpp"

namespace tapestry {

struct TransformerBlockOptions {
  MultiHeadAttentionOptions attention = {};
  FeedForwardOptions feed_forward = {};
  bool has_feed_forward = true;  // false: attention only (Elhage et al. 2021)
  // Attention and feed-forward see the same input: x + attention(norm(x)) + feed_forward(norm'(x))
  // (GPT-NeoX). Only with NormPlace::pre.
  bool parallel_residual = false;
  NormPlace norm_place = NormPlace::pre;
  NormKind norm_kind = NormKind::layer;  // rms: as in Llama
  double norm_eps = 1e-5;
  double dropout = 0;  // of the outputs of attention and feed-forward, while training
};

struct TransformerBlock : Module {
  NormLayer attention_norm;
  MultiHeadAttention attention;
  std::optional<NormLayer> feed_forward_norm;
  std::optional<FeedForward> feed_forward;
  bool parallel_residual;
  NormPlace norm_place;
  double dropout;

  // Throws Error as the layers do, for a dropout outside [0, 1), for NormPlace::post in parallel,
  // and, without a feed-forward, for its d_ff, activation, gate, missing bias or place in parallel.
  TransformerBlock(Index d_model, Index num_heads, Random& random,
                   const TransformerBlockOptions& options = {});

  // x (..., length, d_model) -> the same shape; mask and context as in MultiHeadAttention.
  // Records for Capture: the tensors of attention as "attention.*", "middle", the sum after
  // attention, "feed_forward", what that layer adds to it, and "output" (..., length, d_model).
  Tensor operator()(const Tensor& x, const Mask& mask = {}, const ForwardContext& pass = {}) const;

  Members members() const override;
};

}  // namespace tapestry
