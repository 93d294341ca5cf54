// A transformer that learns to sort letters, with parts left out: what is each part good for?
#pragma once

#include <cstdint>

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

struct Parts {
  bool attention = true;
  bool divided = true;  // false: scores are not divided by the root of d_k
  bool feed_forward = true;
  bool activation = true;  // false: nothing between the two maps of a feed-forward layer
  bool residual = true;    // false: a layer's output replaces its input
  bool norm = true;        // false: no layer norm anywhere
  bool post_norm = false;  // true: after each sum instead of before each layer
  bool positions = true;   // false: a word's vector is all that a position begins with
};

struct SortingRecipe {
  Index layers = 4;
  Index steps = 200;
  Index warmup_steps = 20;
  double learning_rate = 1e-2;  // the highest; after the warm-up it falls along half a cosine wave
  bool falls = true;            // false: it stays the highest
  double dropout = 0;
  Index batches = 0;  // so many, read again and again; 0: new prompts at every step
  NormKind norm_kind = NormKind::layer;
  Initializer initializer = init::lecun_normal;
};

struct SortingResult {
  double loss;      // on prompts that were never trained on; infinite if training broke down
  double right;     // share of their answers that are wholly right
  double training;  // mean loss of the last 20 steps, on what it trained on
};

// logits (batch, length, vocab_size) of ids (batch, length), by those parts of the model; a
// generator lets dropout apply.
Tensor logits_of(const Transformer& model, const Indices& ids, const Parts& parts,
                 Random* random = nullptr);

// d_model 32, four heads, batches of 32 prompts of 4 to 6 letters of 16. Takes half a second.
SortingResult learn_to_sort(const Parts& parts, const SortingRecipe& recipe, std::uint64_t seed);

}  // namespace tapestry
