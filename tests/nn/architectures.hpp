// Tiny models of random weights, each with what its architecture has that no other has: seven
// words, two layers and two heads or four.
#pragma once

#include <vector>

#include "nn/layers.hpp"
#include "nn/without.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

inline TransformerOptions tiny() {
  return {
      .vocab_size = 7, .max_length = 6, .d_model = 4, .num_heads = 2, .num_layers = 2, .d_ff = 3};
}

inline Transformer scattered(const TransformerOptions& options) {
  Random random(3);
  Transformer model(options, random);
  scatter(model.parameters(), random, 0.6);
  return model;
}

inline Transformer scattered_for_texts_of(Index length) {
  TransformerOptions o = tiny();
  o.max_length = length;
  return scattered(o);
}

// Each with what an architecture has that no other has.
inline TransformerOptions like_llama() {
  TransformerOptions o = tiny();
  o.num_heads = 4;
  o.num_key_value_heads = 2;
  o.d_k = 6;
  o.attention_bias = true;
  o.attention_output_bias = false;
  o.positions = Positions::rotary;
  o.rotary.base = 50;
  o.norm_kind = NormKind::rms;
  o.norm_eps = 1e-6;
  o.activation = Activation::silu;
  o.gated = true;
  o.feed_forward_bias = false;
  o.tied_logits = true;
  o.windows = {0, 3};
  return o;
}

inline TransformerOptions like_neox() {
  TransformerOptions o = tiny();
  o.d_k = 4;
  o.attention_bias = true;
  o.positions = Positions::rotary;
  o.rotary = {.base = 100, .width = 2, .layout = RotaryLayout::interleaved};
  o.parallel_residual = true;
  return o;
}

inline TransformerOptions like_gpt_neo() {
  TransformerOptions o = tiny();
  o.attention_output_bias = true;
  o.scores.scale = 1;
  o.windows = {0, 2};
  o.scale_by_layer = true;
  o.activation = Activation::gelu_tanh;
  o.tied_logits = true;
  return o;
}

inline TransformerOptions like_bert() {
  TransformerOptions o = tiny();
  o.is_causal = false;
  o.attention_bias = true;
  o.norm_place = NormPlace::post;
  o.norm_eps = 1e-12;
  o.num_token_types = 3;
  o.embedding_norm = true;
  o.tied_logits = true;
  o.logits_bias = true;
  o.logits_transform = true;
  return o;
}

// Those above, and what else a model may have: distances in the scores, biases, no feed-forward.
inline std::vector<TransformerOptions> tiny_architectures() {
  TransformerOptions relative = tiny(), alibi = like_llama(), biased = tiny();
  relative.positions = Positions::relative;
  alibi.positions = Positions::alibi;
  alibi.rotary = {};
  biased.attention_bias = true;
  return {biased,      like_neox(), like_llama(),           like_gpt_neo(),
          like_bert(), relative,    attention_only(tiny()), alibi};
}

}  // namespace tapestry
