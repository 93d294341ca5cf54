// The options of a llama: what part 1 of phase 7 builds, together.
#pragma once

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// RMS norms, rotary positions, grouped queries, a gated feed-forward, tied logits. Sizes not given
// here are the defaults.
inline TransformerOptions llama_options(Index vocab_size, Index d_model, Index d_ff, Index groups) {
  TransformerOptions o{.vocab_size = vocab_size, .d_model = d_model};
  o.d_ff = d_ff;
  o.num_key_value_heads = groups;
  o.positions = Positions::rotary;
  o.norm_kind = NormKind::rms;
  o.activation = Activation::silu;
  o.gated = true;
  o.feed_forward_bias = false;
  o.tied_logits = true;
  return o;
}

}  // namespace tapestry
