// A model whose truth is known, since its weights were set by hand.
#pragma once

#include <algorithm>
#include <cmath>
#include <variant>

#include "tapestry/nn/transformer.hpp"
#include "tapestry/random.hpp"

namespace tapestry {

// Where the planted model keeps what, as columns of the residual stream: the word itself (one-hot),
// its position (one-hot), the word before it, and what comes next.
struct PlantedColumns {
  Index words, length;
  Index word(Index i) const { return i; }
  Index position(Index i) const { return words + i; }
  Index previous(Index i) const { return words + length + i; }
  Index next(Index i) const { return 2 * words + length + i; }
  Index d_model() const { return 3 * words + length; }
};

namespace planted {

// What a norm multiplies a row of so many ones, and zeros, by.
inline double scale(const Transformer& model, Index ones) {
  const TransformerOptions& o = model.options;
  const double share = static_cast<double>(ones) / static_cast<double>(o.d_model);
  const double mean = o.norm_kind == NormKind::layer ? share : 0;
  return 1 / std::sqrt(share - mean * mean + o.norm_eps);
}

// The gain of each column: not 1, so that who forgets it is wrong. Maps behind a norm divide by it.
inline double gain(Index column) { return 1 + 0.5 * static_cast<double>(column % 3); }

// The two heads that matter are number 0 of their layers. What they read is divided by `norm`, what
// the norm before them multiplies by, so that values are ones.

// Layer 0: a query at i + 1 finds the key at i, and takes its word to the columns `previous`.
inline void set_previous_token_head(Transformer& model, const PlantedColumns& at) {
  MultiHeadAttention& head = model.blocks[0].attention;
  const double norm = scale(model, 2), d_k = static_cast<double>(model.options.d_k);
  const double sure = 20 * std::sqrt(d_k) / (norm * norm);  // a score of 20, of the others 0
  for (Index i = 0; i < at.length; ++i) {
    const Index read = at.position(i);
    if (i > 0) head.query.weight.set({read, i - 1}, sure / gain(read));
    head.key.weight.set({read, i}, 1 / gain(read));
  }
  for (Index w = 0; w < at.words; ++w) {
    head.value.weight.set({at.word(w), w}, 1 / (norm * gain(at.word(w))));
    head.output.weight.set({w, at.previous(w)}, 1);
  }
}

// Layer 1: a query finds the keys behind an earlier copy of its word, whose `previous` layer 0 has
// written, and takes their word to `next`. At position 0 there is no word before: layer 0 sees its
// own word there, and the key is set against every word.
inline void set_induction_head(Transformer& model, const PlantedColumns& at) {
  MultiHeadAttention& head = model.blocks[1].attention;
  const double norm = scale(model, 3), d_k = static_cast<double>(model.options.d_k);
  const double sure = 40 * std::sqrt(d_k) / (norm * norm);
  for (Index w = 0; w < at.words; ++w) {
    head.query.weight.set({at.word(w), w}, sure / gain(at.word(w)));
    head.key.weight.set({at.previous(w), w}, 1 / gain(at.previous(w)));
    head.key.weight.set({at.position(0), w}, -0.5 / gain(at.position(0)));
    head.value.weight.set({at.word(w), w}, 1 / (norm * gain(at.word(w))));
    head.output.weight.set({w, at.next(w)}, 1);
  }
}

// Head 1 of a layer: numbers too small to matter, but not zeros.
inline void set_idle_head(MultiHeadAttention& layer, Index d_k, Random& random) {
  for (Linear* map : {&layer.query, &layer.key, &layer.value}) {
    for (Index row = 0; row < map->weight.size(0); ++row) {
      for (Index i = d_k; i < 2 * d_k; ++i) map->weight.set({row, i}, 0.01 * random.normal());
    }
  }
  for (Index i = d_k; i < 2 * d_k; ++i) {
    for (Index column = 0; column < layer.output.weight.size(1); ++column) {
      layer.output.weight.set({i, column}, 0.01 * random.normal());
    }
  }
}

inline void set_gains(const NormLayer& norm) {
  const auto set = [](const auto& one) {
    for (Index i = 0; i < one.weight.size(0); ++i)
      one.weight.data()[i] = static_cast<real>(gain(i));
  };
  std::visit(set, norm.layer);
}

}  // namespace planted

// Two layers of attention alone, two heads each, with norms before them: a previous-token head
// (layer 0, head 0) and an induction head that finds its keys by what the first has written (layer
// 1, head 0). Heads 1 do nothing that matters. After "a b c a" it is sure of b, by a logit of 10;
// a word that has not been seen before it leaves open.
inline Transformer planted_induction(Index words = 8, Index max_length = 16,
                                     NormKind kind = NormKind::layer) {
  const PlantedColumns at{words, max_length};
  Random random(18);
  TransformerOptions options{.vocab_size = words, .max_length = max_length};
  options.d_model = at.d_model();
  options.d_k = std::max(words, max_length);
  options.num_heads = 2;
  options.has_feed_forward = false;
  options.norm_kind = kind;
  options.initializer = [](const Shape& shape, Random&) { return Tensor::zeros(shape); };
  Transformer model(options, random);
  for (Index w = 0; w < words; ++w) {
    model.token_embedding.weight.set({w, at.word(w)}, 1);
    const double sure = 10 / (planted::scale(model, 4) * planted::gain(at.next(w)));
    model.lm_head.weight.set({at.next(w), w}, sure);
  }
  for (Index i = 0; i < max_length; ++i)
    model.position_embedding->weight.set({i, at.position(i)}, 1);
  for (const TransformerBlock& block : model.blocks) planted::set_gains(block.attention_norm);
  planted::set_gains(*model.norm);
  planted::set_previous_token_head(model, at);
  planted::set_induction_head(model, at);
  for (TransformerBlock& block : model.blocks) {
    planted::set_idle_head(block.attention, options.d_k, random);
  }
  return model;
}

}  // namespace tapestry
