// One layer of a transformer: self-attention, then feed-forward, each with a residual connection.
#pragma once

#include <optional>
#include <string>

#include "tapestry/nn/feed_forward.hpp"
#include "tapestry/nn/layer_norm.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/nn/multi_head_attention.hpp"

namespace tapestry {

enum class Norm {
  pre,   // x + f(norm(x)): the residual stream is not normalised (GPT-2; Xiong et al. 2020)
  post,  // norm(x + f(x)): as in Vaswani et al. 2017
};

struct TransformerBlockOptions {
  MultiHeadAttentionOptions attention = {};
  FeedForwardOptions feed_forward = {};
  bool has_feed_forward = true;  // false: attention only (Elhage et al. 2021)
  Norm norm = Norm::pre;
  double eps = 1e-5;   // of the norms
  double dropout = 0;  // of the outputs of attention and feed-forward, while training
};

struct TransformerBlock : Module {
  LayerNorm attention_norm;
  MultiHeadAttention attention;
  std::optional<LayerNorm> feed_forward_norm;
  std::optional<FeedForward> feed_forward;
  Norm norm;
  double dropout;

  // Throws Error as the layers do, and for a dropout outside [0, 1).
  TransformerBlock(Index d_model, Index num_heads, Random& random,
                   const TransformerBlockOptions& options = {});

  // x (..., length, d_model) -> the same shape; mask and context as in MultiHeadAttention.
  // Records for Capture: the tensors of attention as "attention.*", "middle", the sum after
  // attention, and "output" (..., length, d_model).
  Tensor operator()(const Tensor& x, const Mask& mask = {}, const ForwardContext& pass = {}) const;

  Members members() const override {
    return {{"attention_norm", attention_norm},
            {"attention", attention},
            {"feed_forward_norm", feed_forward_norm},
            {"feed_forward", feed_forward}};
  }
};

}  // namespace tapestry
