#include "tapestry/analysis/folding.hpp"

#include <string>
#include <type_traits>
#include <variant>

#include "analysis/folded_map.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

void fold(NormLayer& norm, std::initializer_list<Linear*> maps) {
  for (Linear* map : maps) *map = folded_map(norm, *map);
  norm = without_weights(norm);
}

void centre(const NormLayer& norm, Linear& map) {
  map.weight = folded_writer(norm, map.merged());
  map.adapter.reset();
  if (map.bias.defined()) map.bias = folded_writer(norm, map.bias);
}

void fold(TransformerBlock& block) {
  MultiHeadAttention& attention = block.attention;
  centre(block.attention_norm, attention.output);
  fold(block.attention_norm, {&attention.query, &attention.key, &attention.value});
  if (attention.relative) {
    attention.relative->table.weight = attention.relative->table.weight.clone();
  }
  if (!block.feed_forward) return;
  FeedForward& layer = *block.feed_forward;
  centre(*block.feed_forward_norm, layer.down);
  if (layer.gate) *layer.gate = folded_map(*block.feed_forward_norm, *layer.gate);
  fold(*block.feed_forward_norm, {&layer.up});
}

void fold_embeddings(Transformer& model) {
  const NormLayer kind(model.options.norm_kind, model.options.d_model);
  Tensor& words = model.token_embedding.weight;  // (vocab_size, d_model)
  words = folded_writer(kind, words);            // (vocab_size, d_model)
  if (model.position_embedding)
    model.position_embedding->weight = folded_writer(kind, model.position_embedding->weight);
  if (model.token_type_embedding)
    model.token_type_embedding->weight = folded_writer(kind, model.token_type_embedding->weight);
  if (model.sinusoids.defined()) model.sinusoids = model.sinusoids.clone();
}

// A norm that keeps its weights, copied.
NormLayer copied(const NormLayer& norm) {
  NormLayer result = norm;
  std::visit([](auto& one) { one.weight = one.weight.clone(); }, result.layer);
  if (auto* layer = std::get_if<LayerNorm>(&result.layer)) layer->bias = layer->bias.clone();
  return result;
}

void fold_read_out(Transformer& model, const Tensor& words) {
  if (!model.options.has_logits) {
    model.norm = copied(*model.norm);
    return;
  }
  if (model.options.tied_logits) model.lm_head.weight = transpose(words);  // (d_model, vocab_size)
  if (!model.logits_transform) return fold(*model.norm, {&model.lm_head});
  fold(*model.norm, {&*model.logits_transform});
  fold(*model.logits_norm, {&model.lm_head});
}

// That maps have a bias for the norm's.
void say_biases(Transformer& model) {
  TransformerOptions& options = model.options;
  options.tied_logits = false;
  if (options.norm_kind != NormKind::layer) return;
  const bool output_bias = options.attention_output_bias.value_or(options.attention_bias);
  options.attention_output_bias = output_bias;
  options.attention_bias = true;
  if (options.has_logits) options.logits_bias = true;
  if (options.feed_forward_bias) return;
  options.feed_forward_bias = true;
  for (TransformerBlock& block : model.blocks) {
    if (block.feed_forward) block.feed_forward->down.bias = Tensor::zeros({options.d_model});
  }
}

}  // namespace

void refuse_post_norm(const char* what, const TransformerOptions& options) {
  if (options.norm_place == NormPlace::pre) return;
  throw Error(std::string(what) +
              ": this model's norms stand after its layers (NormPlace::post): the residual stream "
              "itself passes through them, so that no map behind them can take their weights.");
}

NormLayer without_weights(const NormLayer& norm) {
  return std::visit(
      [](const auto& one) {
        const NormKind kind =
            std::is_same_v<std::decay_t<decltype(one)>, RmsNorm> ? NormKind::rms : NormKind::layer;
        return NormLayer(kind, one.weight.size(0), one.eps);
      },
      norm.layer);
}

Linear folded_map(const NormLayer& norm, const Linear& map) {
  Linear result = map;
  const auto gain = std::visit([](const auto& one) { return one.weight; }, norm.layer);
  const Tensor weight = map.merged();                          // (in, out)
  result.weight = (unsqueeze(gain, 1) * weight).contiguous();  // (in, out)
  result.adapter.reset();
  if (map.bias.defined()) result.bias = map.bias.clone();  // (out)
  const LayerNorm* const layer = std::get_if<LayerNorm>(&norm.layer);
  if (layer == nullptr) return result;
  const Tensor shift = matmul(unsqueeze(layer->bias, 0), weight);  // (1, out)
  const Tensor bias = squeeze(shift, 0);                           // (out)
  result.bias = map.bias.defined() ? bias + map.bias : bias;       // (out)
  result.weight = result.weight - mean(result.weight, 0);          // (in, out)
  return result;
}

Tensor folded_writer(const NormLayer& norm, const Tensor& x) {
  if (!std::holds_alternative<LayerNorm>(norm.layer)) return x.clone();
  return x - mean(x, -1, true);  // (..., d_model)
}

Transformer folded(const Transformer& model) {
  refuse_post_norm("folding", model.options);
  Transformer result = model;
  const Tensor words = model.token_embedding.weight;  // (vocab_size, d_model)
  fold_embeddings(result);
  if (result.embedding_norm) result.embedding_norm = copied(*result.embedding_norm);
  for (TransformerBlock& block : result.blocks) fold(block);
  fold_read_out(result, words);
  say_biases(result);
  return result;
}

}  // namespace tapestry
