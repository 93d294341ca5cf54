#include "tapestry/analysis/circuit.hpp"

#include <cmath>
#include <string>
#include <variant>

#include "analysis/folded_map.hpp"
#include "analysis/linear_algebra.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

void check_there(const char* what, Index number, Index count) {
  if (number >= 0 && number < count) return;
  throw Error(std::string("circuit: there is no ") + what + " " + std::to_string(number) +
              (count == 0 ? ": this model has none."
                          : ": this model's are 0 to " + std::to_string(count - 1) + "."));
}

void check_tokens(const Indices& tokens) {
  if (tokens.shape.ndim() == 1) return;
  throw Error("circuit: tokens are " + to_string(tokens.shape) + ": they must be (count).");
}

void check_logits(const TransformerOptions& options) {
  if (!options.has_logits) throw Error("circuit: this model has no logits, which OV would raise.");
  if (!options.logits_transform) return;
  throw Error(
      "circuit: this model has a layer with an activation before its logits (logits_transform): "
      "there is no direct path from a head to them.");
}

// Columns of a map: those of one head, or of the group it reads.
Linear columns(const Linear& map, Index number, Index width) {
  Linear result = map;
  const Index begin = number * width, end = begin + width;
  result.weight = slice(map.merged(), 1, begin, end);  // (d_model, width)
  result.adapter.reset();
  if (map.bias.defined()) result.bias = slice(map.bias, 0, begin, end);  // (width)
  return result;
}

NormLayer plain_norm(const Transformer& model) {
  const TransformerOptions& o = model.options;
  return NormLayer(o.norm_kind, o.d_model, o.norm_eps);
}

// The embeddings of words without positions, as heads read them: (tokens, d_model).
Tensor words_alone(const Transformer& model, const Indices& tokens) {
  check_tokens(tokens);
  Tensor x = model.token_embedding(tokens);  // (tokens, d_model)
  if (model.token_type_embedding)
    x = x + slice(model.token_type_embedding->weight, 0, 0, 1);  // (tokens, d_model)
  if (model.embedding_norm) x = (*model.embedding_norm)(x);
  return plain_norm(model)(x);  // (tokens, d_model)
}

Tensor written(const Circuit& head, const Tensor& x) {
  return matmul(linear(x, head.value, head.value_bias), head.output);  // (tokens, d_model)
}

}  // namespace

Circuit circuit(const Transformer& model, Index layer, Index head) {
  refuse_post_norm("circuit", model.options);
  check_there("layer", layer, static_cast<Index>(model.blocks.size()));
  const TransformerBlock& block = model.blocks[static_cast<std::size_t>(layer)];
  const MultiHeadAttention& all = block.attention;
  check_there("head", head, all.num_heads);
  const Index d_k = all.query.weight.size(1) / all.num_heads;
  const Index d_v = all.output.weight.size(0) / all.num_heads;
  const Index group = head * all.num_key_value_heads / all.num_heads;
  const auto folded = [&](const Linear& map, Index number, Index width) {
    return folded_map(block.attention_norm, columns(map, number, width));
  };
  const Linear query = folded(all.query, head, d_k), key = folded(all.key, group, d_k);
  const Linear value = folded(all.value, group, d_v);
  const Tensor rows =
      slice(all.output.merged(), 0, head * d_v, (head + 1) * d_v);  // (d_v, d_model)
  return {.layer = layer,
          .head = head,
          .query = query.weight,
          .key = key.weight,
          .value = value.weight,
          .query_bias = query.bias,
          .key_bias = key.bias,
          .value_bias = value.bias,
          .output = folded_writer(block.attention_norm, rows),
          .scores = all.scores};
}

Tensor token_scores(const Transformer& model, const Circuit& head, const Indices& tokens,
                    const std::optional<Circuit>& keys_from) {
  if (keys_from && keys_from->layer >= head.layer) {
    throw Error("circuit: a head of layer " + std::to_string(head.layer) +
                " reads nothing that one of layer " + std::to_string(keys_from->layer) +
                " writes: give one of an earlier layer.");
  }
  const Tensor queries = words_alone(model, tokens);  // (tokens, d_model)
  const Tensor keys =
      keys_from ? plain_norm(model)(written(*keys_from, queries)) : queries;  // (tokens, d_model)
  const double width = static_cast<double>(head.query.size(1));
  const Tensor q = linear(queries, head.query, head.query_bias);  // (tokens, d_k)
  const Tensor k = linear(keys, head.key, head.key_bias);         // (tokens, d_k)
  // (tokens, tokens)
  const Tensor scores = matmul(q, transpose(k)) * head.scores.scale.value_or(1 / std::sqrt(width));
  const double cap = head.scores.softcap;
  return cap > 0 ? cap * tanh(scores / cap) : scores;  // (tokens, tokens)
}

Tensor token_logits(const Transformer& model, const Circuit& head, const Indices& tokens) {
  check_logits(model.options);
  const Tensor gain =
      std::visit([](const auto& one) { return one.weight; }, model.norm->layer);  // (d_model)
  const Tensor rows = written(head, words_alone(model, tokens)) * gain;  // (tokens, d_model)
  const Tensor map = model.options.tied_logits ? transpose(model.token_embedding.weight)
                                               : model.lm_head.weight;  // (d_model, vocab_size)
  const Tensor logits = matmul(rows, map);                              // (tokens, vocab_size)
  return logits - mean(logits, -1, true);                               // (tokens, vocab_size)
}

Tensor token_logit_table(const Transformer& model, const Circuit& head, const Indices& tokens) {
  const Tensor by_token = transpose(token_logits(model, head, tokens));  // (vocab_size, tokens)
  return transpose(embedding(by_token, tokens));                         // (tokens, tokens)
}

std::vector<BoostedToken> most_boosted(const Transformer& model, const Circuit& head,
                                       std::int32_t source, Index count) {
  const TopK best = topk(token_logits(model, head, Indices({1}, {source})), count);  // (1, count)
  const std::vector<real> logits = best.values.values();
  std::vector<BoostedToken> list;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    list.push_back({best.indices.values[i], double{logits[i]}});
  }
  return list;
}

SingularValues query_key_singular_values(const Circuit& head) {
  return singular_values_of_product(head.query, head.key);
}

SingularValues output_value_singular_values(const Circuit& head) {
  return singular_values_of_product(head.value, transpose(head.output));
}

}  // namespace tapestry
