#include "tapestry/models/hand_made.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "models/hand_made_checks.hpp"

namespace tapestry {
namespace {

constexpr double constant = 1000;

// The matrix that was given, or else the other one.
void fill(Tensor& given, const Tensor& otherwise) {
  if (!given.defined()) given = otherwise;
}

// Number i of a value of this width counts as word i, where the logits read.
Tensor to_what_comes_next(const HandMadeColumns& at, Index width) {
  Tensor output = Tensor::zeros({width, at.d_model()});  // (v, d_model)
  for (Index i = 0; i < width; ++i) output.set({i, at.found(Phrase::what_followed, i)}, 1);
  return output;
}

HandMadeMatrices complete(const HandMadeHead& head, const HandMadeOptions& options) {
  const HandMadeColumns at = columns_of(options);
  HandMadeMatrices m = head.matrices;
  const HandMadeMatrices phrase = matrices_of(head.phrase.value_or(Phrase::same_word), options);
  if (head.phrase) {
    fill(m.query, phrase.query);
    fill(m.key, phrase.key);
    fill(m.output, phrase.output);
  }
  fill(m.value, phrase.value);  // without a phrase the word read
  const bool has_width = m.value.ndim() == 2 && m.value.size(1) <= at.vocab_size;
  if (has_width) fill(m.output, to_what_comes_next(at, m.value.size(1)));
  check_matrices(head, m, at.d_model());
  return m;
}

TransformerOptions sizes_of(const HandMadeOptions& o, const std::vector<HandMadeHead>& heads,
                            const std::vector<HandMadeMatrices>& matrices) {
  Index layers{}, heads_each{}, width{};
  for (const HandMadeHead& head : heads) {
    layers = std::max(layers, head.layer + 1);
    heads_each = std::max(heads_each, head.head + 1);
  }
  for (const HandMadeMatrices& m : matrices) {
    width = std::max({width, m.query.size(1), m.value.size(1)});
  }
  check_hand_made_size(o, layers, heads_each, width);
  TransformerOptions sizes{.vocab_size = o.vocab_size, .max_length = o.max_length};
  sizes.d_model = columns_of(o).d_model();
  sizes.num_heads = heads_each;
  sizes.num_layers = layers;
  sizes.d_k = width;
  sizes.has_feed_forward = false;
  sizes.norm_kind = NormKind::rms;
  sizes.initializer = [](const Shape& shape, Random&) { return Tensor::zeros(shape); };
  return sizes;
}

// Copies a matrix, times `factor`, into a larger one from (row, column) on.
void place(const Tensor& part, Tensor& whole, Index row, Index column, double factor = 1) {
  for (Index i = 0; i < part.size(0); ++i) {
    for (Index j = 0; j < part.size(1); ++j) {
      whole.set({row + i, column + j}, factor * double{part.at({i, j})});
    }
  }
}

void set_head(Transformer& model, const HandMadeHead& at, const HandMadeMatrices& m) {
  MultiHeadAttention& layer = model.blocks[static_cast<std::size_t>(at.layer)].attention;
  const Index d_k = model.options.d_k, first = at.head * d_k;
  const double wider = static_cast<double>(d_k) / static_cast<double>(m.query.size(1));
  place(m.query, layer.query.weight, 0, first, std::sqrt(wider));
  place(m.key, layer.key.weight, 0, first);
  place(m.value, layer.value.weight, 0, first);
  place(m.output, layer.output.weight, first, 0);
}

void set_words(Transformer& model, const HandMadeColumns& at, double certainty) {
  for (Index w = 0; w < at.vocab_size; ++w) {
    model.token_embedding.weight.set({w, at.word(w)}, 1);
    model.token_embedding.weight.set({w, at.constant()}, constant);
    model.lm_head.weight.set({at.found(Phrase::what_followed, w), w}, certainty);
  }
  for (Index i = 0; i < at.max_length; ++i)
    model.position_embedding->weight.set({i, at.position(i)}, 1);
}

// The gain is what the norm divides rows by, the root mean square of the constant and two ones; but
// 0 for the constant, of which maps would make large steps when they learn.
void undo(const NormLayer& norm, Index constant_column) {
  const RmsNorm& rms = std::get<RmsNorm>(norm.layer);
  const auto width = static_cast<double>(rms.weight.numel());
  const double divisor = std::sqrt((constant * constant + 2) / width + rms.eps);
  std::fill_n(rms.weight.data(), rms.weight.numel(), static_cast<real>(divisor));
  rms.weight.data()[constant_column] = 0;
}

}  // namespace

Transformer hand_made(const HandMadeOptions& options, const std::vector<HandMadeHead>& heads) {
  check_hand_made(options);
  check_hand_made(heads);
  std::vector<HandMadeMatrices> matrices;
  for (const HandMadeHead& head : heads) matrices.push_back(complete(head, options));
  Random random(0);  // of which zeros are made
  Transformer model(sizes_of(options, heads, matrices), random);
  const HandMadeColumns at = columns_of(options);
  set_words(model, at, options.certainty);
  for (std::size_t i = 0; i < heads.size(); ++i) set_head(model, heads[i], matrices[i]);
  for (const TransformerBlock& block : model.blocks) undo(block.attention_norm, at.constant());
  undo(*model.norm, at.constant());
  return model;
}

}  // namespace tapestry
