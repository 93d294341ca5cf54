// Which models and inputs are plain enough for decode().
#include "nn/decoding.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {
namespace {

bool is_plain(const Tensor& x, const Shape& shape) {
  return x.shape() == shape && x.is_contiguous() && !Tape::needs_gradient(x);
}

bool is_plain(const Linear& map, Index in, Index out) {
  return !map.adapter && map.weight.shape() == Shape{in, out} &&
         !Tape::needs_gradient(map.weight) && (!map.bias.defined() || is_plain(map.bias, {out}));
}

bool is_plain(const NormLayer& norm, Index width) {
  if (const auto* rms = std::get_if<RmsNorm>(&norm.layer)) return is_plain(rms->weight, {width});
  const auto& layer = std::get<LayerNorm>(norm.layer);
  return is_plain(layer.weight, {width}) && is_plain(layer.bias, {width});
}

bool is_plain(const FeedForward& layer, Index width) {
  const Index inner = layer.up.weight.ndim() == 2 ? layer.up.weight.size(1) : 0;
  return is_plain(layer.up, width, inner) && is_plain(layer.down, inner, width) &&
         (!layer.gate || is_plain(*layer.gate, width, inner));
}

bool is_plain(const MultiHeadAttention& a, Index width, const KeyValueCache& cache) {
  if (a.query.weight.ndim() != 2 || a.output.weight.ndim() != 2) return false;
  const Heads h(a);
  const Index length = cache.length();
  const bool any = a.positions == Positions::none || a.positions == Positions::rotary;
  return any && a.scores.softcap == 0 && is_plain(a.query, width, h.count * h.key_width) &&
         is_plain(a.key, width, h.groups * h.key_width) &&
         is_plain(a.value, width, h.groups * h.value_width) &&
         is_plain(a.output, h.count * h.value_width, width) && length > 0 &&
         cache.keys.shape() == Shape{1, h.groups, length, h.key_width} &&
         cache.values.shape() == Shape{1, h.groups, length, h.value_width} &&
         !Tape::needs_gradient(cache.keys) && !Tape::needs_gradient(cache.values);
}

bool is_plain(const TransformerBlock& block, Index width, const KeyValueCache& cache) {
  return is_plain(block.attention_norm, width) && is_plain(block.attention, width, cache) &&
         (!block.feed_forward ||
          (is_plain(*block.feed_forward_norm, width) && is_plain(*block.feed_forward, width)));
}

// What is added to the embedding.
bool has_plain_positions(const Transformer& model, Index width, Index place) {
  const bool added = model.position_embedding || model.sinusoids.defined();
  if (added && place >= model.options.max_length) return false;
  if (model.position_embedding &&
      !is_plain(model.position_embedding->weight, {model.options.max_length, width})) {
    return false;
  }
  return !model.token_type_embedding && !model.embedding_norm;
}

bool has_plain_logits(const Transformer& model, Index width, Index words) {
  if (model.logits_transform || !model.options.has_logits) return false;
  if (model.norm && !is_plain(*model.norm, width)) return false;
  const Linear& map = model.lm_head;
  if (!model.options.tied_logits) return is_plain(map, width, words);
  return !map.bias.defined() || is_plain(map.bias, {words});
}

// What decode() knows of a pass: nothing but the caches.
bool is_plain(const ForwardContext& pass) {
  return !pass.training() && !pass.need_weights && pass.token_type_ids == nullptr;
}

}  // namespace

bool can_decode(const Transformer& model, const Indices& ids,
                const std::vector<KeyValueCache>& caches, const ForwardContext& pass) {
  if (!is_plain(pass) || ids.shape != Shape{1, 1} || ids.values.size() != 1) return false;
  const Index words = model.options.vocab_size, width = model.options.d_model;
  if (ids.values[0] < 0 || ids.values[0] >= words || caches.size() != model.blocks.size()) {
    return false;
  }
  if (!is_plain(model.token_embedding.weight, {words, width}) ||
      !has_plain_positions(model, width, caches.front().length()) ||
      !has_plain_logits(model, width, words)) {
    return false;
  }
  for (std::size_t i = 0; i < caches.size(); ++i) {
    if (!is_plain(model.blocks[i], width, caches[i])) return false;
  }
  return true;
}

}  // namespace tapestry
