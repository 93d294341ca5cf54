#include "nn/decoding.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/parallel.hpp"
#include "nn/key_value_room.hpp"
#include "ops/activation.hpp"
#include "tapestry/capture.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

using kernels::active;

// ---- The arithmetic. Every function writes to its last argument.

void apply(const NormLayer& norm, const real* x, Index width, real* y) {
  real inverse, mean[2];
  if (const auto* rms = std::get_if<RmsNorm>(&norm.layer)) {
    kernels::rms_norm(x, raw(rms->weight), static_cast<real>(rms->eps), y, &inverse, 1, width);
    return;
  }
  const auto& layer = std::get<LayerNorm>(norm.layer);
  kernels::layer_norm(x, raw(layer.weight), raw(layer.bias), static_cast<real>(layer.eps), y, mean,
                      &inverse, 1, width);
}

void apply(const Tensor& weight, const Tensor& bias, Activation activation, const real* x,
           real* y) {
  const Index in = weight.size(0), out = weight.size(1);
  const kernels::MatrixView row = {x, nullptr, in, 1};
  const kernels::MatrixView map = {raw(weight), nullptr, weight.strides()[0], weight.strides()[1]};
  kernels::linear({{}, 1, out, in}, row, map,
                  {bias.defined() ? raw(bias) : nullptr, kernels_of(activation).function, y}, y);
}

void apply(const Linear& map, const real* x, real* y) {
  apply(map.weight, map.bias, Activation::none, x, y);
}

void add(const real* x, Index count, real* to) {
  active().of<kernels::Add>()(to, 1, x, 1, to, count);
}

// The cosines and sines of one position, the same for all heads of all layers that turn alike.
class Turn {
 public:
  Turn(const RotaryOptions& how, Index key_width, Index place)
      : how_(how),
        width_(how.width == 0 ? key_width : how.width),
        angles_(sinusoidal_positions(1, width_, place, how.base)) {}

  bool is_for(const RotaryOptions& how, Index key_width) const {
    return how.base == how_.base && how.layout == how_.layout &&
           width_ == (how.width == 0 ? key_width : how.width);
  }
  void turn(Index heads, Index key_width, real* rows) const {
    const bool halves = how_.layout == RotaryLayout::half_split;
    const Index step = halves ? 1 : 2, apart = halves ? width_ / 2 : 1;
    const real* const angle = raw(angles_);  // of each pair its sine and cosine
    for (Index h = 0; h < heads; ++h, rows += key_width) {
      for (Index i = 0; i < width_ / 2; ++i) {
        real &x = rows[i * step], &y = rows[i * step + apart];
        const real turned = x * angle[2 * i + 1] - y * angle[2 * i];
        y = x * angle[2 * i] + y * angle[2 * i + 1];
        x = turned;
      }
    }
  }

 private:
  RotaryOptions how_;
  Index width_;
  Tensor angles_;  // (1, width)
};

class Decoder {
 public:
  Decoder(const Transformer& model, Index place)
      : model_(model), width_(model.options.d_model), place_(place) {
    Index inner = 0, numbers = 0, heads = 0;
    for (const TransformerBlock& block : model.blocks) {
      const Heads h(block.attention);
      numbers = std::max(numbers, h.count * std::max(h.key_width, h.value_width));
      heads = std::max(heads, h.count);
      if (block.feed_forward) inner = std::max(inner, block.feed_forward->up.weight.size(1));
    }
    const Index scores = heads * (place + 1);
    room_ = Tensor::empty({4 * width_ + 2 * numbers + 2 * inner + 2 * scores});
    real* next = raw(room_);
    const auto take = [&](Index count) { return std::exchange(next, next + count); };
    x_ = take(width_), seen_ = take(width_), other_ = take(width_), result_ = take(width_);
    query_ = take(numbers), heads_ = take(numbers);
    up_ = take(inner), gate_ = take(inner);
    scores_ = take(scores), weights_ = take(scores);
  }

  Tensor run(std::int32_t id, std::vector<KeyValueCache>& caches) {
    embed(id);
    for (std::size_t i = 0; i < caches.size(); ++i) pass(model_.blocks[i], caches[i]);
    return read_out();
  }

 private:
  void embed(std::int32_t id) {
    std::copy_n(raw(model_.token_embedding.weight) + id * width_, width_, x_);
    if (model_.position_embedding)
      add(raw(model_.position_embedding->weight) + place_ * width_, width_, x_);
    if (model_.sinusoids.defined()) add(raw(model_.sinusoids) + place_ * width_, width_, x_);
  }

  void pass(const TransformerBlock& block, KeyValueCache& cache) {
    const bool pre = block.norm_place == NormPlace::pre;
    if (pre) apply(block.attention_norm, x_, width_, seen_);
    if (block.parallel_residual && block.feed_forward) {
      apply(*block.feed_forward_norm, x_, width_, other_);
    }
    attend(block.attention, pre ? seen_ : x_, cache);
    add(result_, width_, x_);
    if (!pre) renew(block.attention_norm);
    if (!block.feed_forward) return;
    if (pre && !block.parallel_residual) apply(*block.feed_forward_norm, x_, width_, other_);
    transform(*block.feed_forward, pre ? other_ : x_);
    add(result_, width_, x_);
    if (!pre) renew(*block.feed_forward_norm);
  }

  void renew(const NormLayer& norm) {
    apply(norm, x_, width_, seen_);
    std::swap(x_, seen_);
  }

  void transform(const FeedForward& layer, const real* x) {
    const Index inner = layer.up.weight.size(1);
    const Activation of_up = layer.gate ? Activation::none : layer.activation;
    apply(layer.up.weight, layer.up.bias, of_up, x, up_);
    if (layer.gate) {
      apply(layer.gate->weight, layer.gate->bias, layer.activation, x, gate_);
      active().of<kernels::Multiply>()(gate_, 1, up_, 1, up_, inner);
    }
    apply(layer.down, up_, result_);
  }

  void attend(const MultiHeadAttention& a, const real* x, KeyValueCache& cache) {
    const Heads h(a);
    const auto room = room_for(cache, place_ + 1);
    apply(a.query, x, query_);
    apply(a.key, x, heads_);  // for a moment
    turn(a, h, h.count, query_);
    turn(a, h, h.groups, heads_);
    append(heads_, h.groups, h.key_width, room->keys);
    apply(a.value, x, heads_);
    append(heads_, h.groups, h.value_width, room->values);
    const double scale = a.scores.scale.value_or(1 / std::sqrt(static_cast<double>(h.key_width)));
    for (Index i = 0; i < h.count * h.key_width; ++i) query_[i] *= static_cast<real>(scale);
    const Index first = a.window > 0 ? std::max<Index>(0, place_ + 1 - a.window) : 0;
    const Index work = (place_ + 1 - first) * (h.key_width + h.value_width) * h.count / h.groups;
    kernels::parallel_tasks(h.groups, std::max<Index>(1, kernels::parallel_grain / work),
                            [&](Index group) { mix(h, group, first, *room); });
    apply(a.output, heads_, result_);
    cache = cache_in(room, place_ + 1);
  }

  // The heads that read one head of keys and values: softmax(Q K^T) V, with keys from `first` on.
  void mix(const Heads& h, Index group, Index first, const KeyValueCache::Room& room) const {
    const kernels::Table& t = active();
    const Index heads = h.count / h.groups, keys = place_ + 1 - first;
    const Index start = group * room.keys.size(-2) + first;
    real* const scores = scores_ + group * heads * (place_ + 1);
    real* const weights = weights_ + group * heads * (place_ + 1);
    t.matmul(heads, keys, h.key_width, query_ + group * heads * h.key_width, h.key_width, 1,
             raw(room.keys) + start * h.key_width, 1, h.key_width, scores, keys);
    t.softmax(scores, weights, heads, keys);
    t.matmul(heads, h.value_width, keys, weights, keys, 1, raw(room.values) + start * h.value_width,
             h.value_width, 1, heads_ + group * heads * h.value_width, h.value_width);
  }

  void turn(const MultiHeadAttention& a, const Heads& h, Index heads, real* rows) {
    if (a.positions != Positions::rotary) return;
    if (!turn_ || !turn_->is_for(a.rotary, h.key_width)) {
      turn_.emplace(a.rotary, h.key_width, place_);
    }
    turn_->turn(heads, h.key_width, rows);
  }

  void append(const real* rows, Index groups, Index width, const Tensor& room) const {
    for (Index g = 0; g < groups; ++g) {
      std::copy_n(rows + g * width, width, raw(room) + (g * room.size(-2) + place_) * width);
    }
  }

  Tensor read_out() {
    const real* x = x_;
    if (model_.norm) apply(*model_.norm, x_, width_, seen_), x = seen_;
    const Tensor logits = Tensor::empty({1, 1, model_.options.vocab_size});
    const Tensor& words = model_.token_embedding.weight;  // (vocab_size, d_model)
    const Tensor tied = words.as_strided({width_, words.size(0)}, {1, width_},
                                         words.offset());  // (d_model, vocab_size)
    apply(model_.options.tied_logits ? tied : model_.lm_head.weight, model_.lm_head.bias,
          Activation::none, x, raw(logits));
    return logits;
  }

  const Transformer& model_;
  Index width_, place_;
  Tensor room_;
  real *x_, *seen_, *other_, *result_;  // (width): the stream, what layers see, what they give
  real *query_, *heads_, *up_, *gate_, *scores_, *weights_;
  std::optional<Turn> turn_;
};

}  // namespace

Tensor decode(const Transformer& model, std::int32_t id, std::vector<KeyValueCache>& caches) {
  for (const char* part : {"embedding", "blocks", "norm"}) {
    Capture::not_stored(part, "give next() {.need_weights = true}");
  }
  const Tensor logits = Decoder(model, caches.front().length()).run(id, caches);
  return Capture::record("logits", logits);  // (1, 1, vocab_size)
}

}  // namespace tapestry
