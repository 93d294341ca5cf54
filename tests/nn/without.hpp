// Options without a part of the model, and so without the options of that part.
#pragma once

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

inline TransformerOptions attention_only(TransformerOptions o) {
  o.has_feed_forward = false;
  o.d_ff = 0;
  o.gated = o.parallel_residual = false;
  o.feed_forward_bias = true;
  if (!o.logits_transform) o.activation = TransformerOptions().activation;
  return o;
}

inline TransformerOptions without_logits(TransformerOptions o) {
  o.has_logits = o.tied_logits = o.logits_bias = o.logits_transform = false;
  return o;
}

}  // namespace tapestry
