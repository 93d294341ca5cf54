// Direct logit attribution: which parts of a model write the difference of two logits.
//
//   const Attribution parts = attribute(model, ids, {.token = he, .against = she});
//   parts.heads.at({2, 5});   // how much head 5 of layer 2 adds to logit(he) - logit(she)
//   parts.error;              // what the parts do not add up to: rounding
#pragma once

#include "tapestry/analysis/question.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// All in units of logits, positive for what raises the token above the other one. They add up to
// `difference`.
struct Attribution {
  double words = 0;            // the word at the position: its row of token_embedding
  double positions = 0;        // the position's vector, learned or sinusoidal; 0 without such
  double token_types = 0;      // the vector of token type 0; 0 without such
  Tensor heads = {};           // (layers, heads): the weighted values, b_V among them, times W_O
  Tensor attention_bias = {};  // (layers): b_O, which belongs to no head
  Tensor feed_forward = {};    // (layers): with its biases; 0 in a model without
  double norm_bias = 0;        // the biases of the norms on the way to the logits, together
  double logits_bias = 0;
  double difference = 0;  // of the two logits, as the model computes it
  double error = 0;       // difference, less the sum of all of the above: rounding
};

// The direct contributions of all parts to logit(question.token) - logit(question.against) at the
// position (Elhage et al. 2021, "A mathematical framework for transformer circuits"): the residual
// stream is a sum of what the parts write, and the map to the logits is linear but for the last
// norm. That norm's scale, 1 / deviation, is held at what it is in this text, so that the parts add
// up. (The logit lens of nostalgebraist 2020 is something else: it applies the norm anew to the
// stream of each layer, as if that were the last.) With NormPlace::post, and with a norm of the
// embedding, the scales of all norms on the way are held. Sums are computed in double.
//
// Direct means: the part's own path to the logits. What later layers make of it counts as theirs;
// cut() (cuts.hpp) measures both.
//
// ids (length) or (1, length); token types are 0. Throws Error for several texts, a question
// without `against`, a position or a token that is not there, a model without logits, a model with
// logits_transform (its activation before the logits is not linear), and while a Capture is active.
[[nodiscard]] Attribution attribute(const Transformer& model, const Indices& ids,
                                    const Question& question);

}  // namespace tapestry
