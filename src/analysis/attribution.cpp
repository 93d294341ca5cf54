#include "tapestry/analysis/attribution.hpp"

#include <cmath>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "analysis/one_text.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

using Row = std::vector<double>;  // (d_model)

Row doubles(const Tensor& x) {
  const std::vector<real> values = x.values();
  return Row(values.begin(), values.end());
}

// Row number `position` of x (..., length, width), one text.
Row row_of(const Tensor& x, Index position) {
  return doubles(slice(x, -2, position, position + 1));
}

double product(const Row& a, const Row& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Row sum_of(Row a, const Row& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

double mean_of(const Row& row) {
  return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
}

// What a norm does to one row, its scale held: gain * (x - mean) / deviation + bias, or, of an
// RmsNorm, gain * x / root mean square.
struct HeldNorm {
  bool centred;
  Row gain, bias;  // bias empty: none
  double scale;    // 1 / deviation

  HeldNorm(const NormLayer& norm, const Row& input) {
    const auto* const layer = std::get_if<LayerNorm>(&norm.layer);
    centred = layer != nullptr;
    const Tensor& weight =
        centred ? layer->weight : std::get<RmsNorm>(norm.layer).weight;  // (d_model)
    gain = doubles(weight);
    if (centred) bias = doubles(layer->bias);
    const double mean = centred ? mean_of(input) : 0;
    double squares = 0;
    for (const double x : input) squares += (x - mean) * (x - mean);
    const double eps = centred ? layer->eps : std::get<RmsNorm>(norm.layer).eps;
    scale = 1 / std::sqrt(squares / static_cast<double>(input.size()) + eps);
  }

  // The row whose product with the input is that of `direction` with the output, less the bias.
  Row before(const Row& direction) const {
    Row row(direction.size());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = direction[i] * gain[i] * scale;
    const double mean = centred ? mean_of(row) : 0;
    for (double& x : row) x -= mean;
    return row;
  }
};

// From the logits back to the embedding: at each place the direction in the residual stream that
// counts there, by whose product with what a part writes this part contributes.
class Walk {
 public:
  Walk(const Transformer& model, const Capture& seen, Index position)
      : model_(model), seen_(seen), position_(position) {}

  Attribution from(const Question& question, std::int32_t word) {
    const Index layers = model_.options.num_layers;
    result_.heads = Tensor::zeros({layers, model_.options.num_heads});  // (layers, heads)
    result_.attention_bias = Tensor::zeros({layers});                   // (layers)
    result_.feed_forward = Tensor::zeros({layers});                     // (layers)
    read_out(question);
    for (Index i = layers; i-- > 0;) block(i);
    embedding(word);
    result_.difference = double{answer(seen_["logits"], question).item()};
    result_.error = result_.difference - sum_;
    return result_;
  }

 private:
  double add(double contribution) {
    sum_ += contribution;
    return contribution;
  }
  void put(const Tensor& to, Index at, double contribution) {
    raw(to)[at] = static_cast<real>(add(contribution));
  }
  Row seen(const std::string& name) const { return row_of(seen_[name], position_); }

  // Through a norm, backwards.
  void pass(const NormLayer& norm, const Row& input) {
    const HeldNorm held(norm, input);
    if (!held.bias.empty()) result_.norm_bias += add(product(direction_, held.bias));
    direction_ = held.before(direction_);
  }

  void read_out(const Question& question) {
    const std::int32_t one = question.token, other = *question.against;
    const Tensor table = model_.options.tied_logits
                             ? model_.token_embedding.weight
                             : transpose(model_.lm_head.weight);  // (vocab_size, d_model)
    direction_ = row_of(table, one);
    const Row less = row_of(table, other);
    for (std::size_t i = 0; i < less.size(); ++i) direction_[i] -= less[i];
    if (model_.lm_head.bias.defined()) {
      const Tensor& bias = model_.lm_head.bias;  // (vocab_size)
      result_.logits_bias = add(double{bias.at({one})} - double{bias.at({other})});
    }
    if (!model_.norm) return;
    const Index layers = model_.options.num_layers;
    pass(*model_.norm, seen(layers == 0 ? "embedding" : block_name(layers - 1) + "output"));
  }

  static std::string block_name(Index i) { return "blocks." + std::to_string(i) + "."; }

  void block(Index i) {
    const TransformerBlock& here = model_.blocks[static_cast<std::size_t>(i)];
    const std::string name = block_name(i);
    const bool post = here.norm_place == NormPlace::post;
    if (here.feed_forward) {
      const Row given = seen(name + "feed_forward");
      if (post) pass(*here.feed_forward_norm, sum_of(seen(name + "middle"), given));
      put(result_.feed_forward, i, product(direction_, given));
    }
    if (post) {
      const Row input = seen(i == 0 ? "embedding" : block_name(i - 1) + "output");
      pass(here.attention_norm, sum_of(input, seen(name + "attention.output")));
    }
    attention(i, here.attention);
  }

  void attention(Index i, const MultiHeadAttention& layer) {
    if (layer.output.bias.defined()) {
      put(result_.attention_bias, i, product(direction_, doubles(layer.output.bias)));
    }
    const Tensor mixed = seen_[block_name(i) + "attention.heads"];  // (1, heads, length, d_v)
    const Tensor map = layer.output.merged().contiguous();          // (heads d_v, d_model)
    const Index d_v = mixed.size(-1), d_model = map.size(1);
    for (Index h = 0; h < layer.num_heads; ++h) {
      const Row head = row_of(slice(mixed, 1, h, h + 1), position_);
      double sum = 0;
      for (Index c = 0; c < d_v; ++c) {
        const real* const row = raw(map) + (h * d_v + c) * d_model;
        sum += head[static_cast<std::size_t>(c)] *
               std::inner_product(direction_.begin(), direction_.end(), row, 0.0);
      }
      put(result_.heads, i * layer.num_heads + h, sum);
    }
  }

  // The word, its position and its type are added; then they may be normalised.
  void embedding(std::int32_t word) {
    const Row of_word = row_of(model_.token_embedding.weight, word);
    Row of_position(of_word.size()), of_type(of_word.size());
    if (model_.position_embedding)
      of_position = row_of(model_.position_embedding->weight, position_);
    if (model_.sinusoids.defined()) {
      of_position = row_of(sinusoidal_positions(1, model_.options.d_model, position_), 0);
    }
    if (model_.token_type_embedding) of_type = row_of(model_.token_type_embedding->weight, 0);
    if (model_.embedding_norm) {
      pass(*model_.embedding_norm, sum_of(sum_of(of_word, of_position), of_type));
    }
    result_.words = add(product(direction_, of_word));
    result_.positions = add(product(direction_, of_position));
    result_.token_types = add(product(direction_, of_type));
  }

  const Transformer& model_;
  const Capture& seen_;
  Index position_;
  Row direction_;  // (d_model)
  double sum_ = 0;
  Attribution result_;
};

}  // namespace

Attribution attribute(const Transformer& model, const Indices& ids, const Question& question) {
  const Indices text = one_text("attribute", model, ids);
  if (!question.against) {
    throw Error(
        "attribute: the question has no token `against` which the other is held: parts add up to a "
        "difference of two logits, not to the logarithm of a probability.");
  }
  if (model.options.logits_transform) {
    throw Error(
        "attribute: this model has an activation before its logits (logits_transform, as in BERT): "
        "what passes it is no sum of parts. Cut them instead.");
  }
  const Index position = position_in("attribute", question, text.shape[1]);
  const Capture seen;
  (void)answer(model(text), question);  // the question's tokens are there
  return Walk(model, seen, position)
      .from(question, text.values[static_cast<std::size_t>(position)]);
}

}  // namespace tapestry
