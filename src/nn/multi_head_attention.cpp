#include "tapestry/nn/multi_head_attention.hpp"

#include <cmath>

#include "attention/operands.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

// The width of all heads together.
Index total(const char* name, Index asked, Index d_model, Index num_heads) {
  const std::string sizes = "multi-head attention: d_model is " + std::to_string(d_model) +
                            ", num_heads is " + std::to_string(num_heads) + " and " + name +
                            " is " + std::to_string(asked) + ": ";
  if (d_model < 1 || num_heads < 1 || asked < 0) {
    throw Error(sizes + "each must be at least 1 (" + name + ": or 0 for d_model / num_heads).");
  }
  if (asked > 0) return num_heads * asked;
  if (d_model % num_heads != 0) {
    throw Error(sizes + "heads must divide d_model, or " + name + " must be given.");
  }
  return d_model;
}

Index source(Index d_context, Index d_model) {
  if (d_context < 0) {
    throw Error("multi-head attention: d_context is " + std::to_string(d_context) +
                ": it must be at least 1, or 0 for d_model's value.");
  }
  return d_context == 0 ? d_model : d_context;
}

// How many heads keys and values have.
Index shared(Index asked, Index num_heads) {
  if (asked > 0 && num_heads % asked == 0) return asked;
  if (asked == 0) return num_heads;
  throw Error("multi-head attention: num_heads is " + std::to_string(num_heads) +
              " and num_key_value_heads is " + std::to_string(asked) +
              ": they must divide num_heads, or be 0 for as many.");
}

void check_rows(const char* name, const Tensor& x, const char* width, const Linear& map) {
  if (x.ndim() >= 2 && x.ndim() <= Shape::max_ndim - 1 && x.size(-1) == map.weight.size(0)) return;
  throw Error(std::string("multi-head attention: ") + name + " is " + to_string(x.shape()) +
              ": it must be (..., length, " + width + ") with " + width + " = " +
              std::to_string(map.weight.size(0)) + ", of at most five axes.");
}

void check_rotary(const RotaryOptions& rotary, Index d_k) {
  const Index width = rotary.width == 0 ? d_k : rotary.width;
  if (rotary.width < 0 || width > d_k || width % 2 != 0) {
    throw Error("multi-head attention: d_k is " + std::to_string(d_k) +
                " and the rotary width is " + std::to_string(rotary.width) +
                ": rotary positions rotate pairs of a head: the width must be even and at most " +
                "d_k, or 0 for all of an even d_k.");
  }
  if (!(rotary.base > 0) || !std::isfinite(rotary.base)) {
    throw Error("multi-head attention: the rotary base is " + exact_text(rotary.base) +
                ", but must be a number above 0.");
  }
}

void check(const MultiHeadAttentionOptions& o, Index d_k) {
  if (!(o.dropout >= 0 && o.dropout < 1)) {
    throw Error("multi-head attention: dropout is " + exact_text(o.dropout) +
                ", but must be in [0, 1).");
  }
  check_scores("multi-head attention", o.scores);
  if (o.positions == Positions::learned || o.positions == Positions::sinusoidal) {
    throw Error(
        "multi-head attention: learned and sinusoidal positions are added to x, which this layer "
        "does not do: add them yourself, or let a Transformer do so.");
  }
  if (o.window < 0) {
    throw Error("multi-head attention: window is " + std::to_string(o.window) +
                ": it must be at least 1, or 0 to see all.");
  }
  if (o.positions == Positions::rotary) {
    check_rotary(o.rotary, d_k);
  } else if (o.rotary != RotaryOptions()) {
    throw Error(
        "multi-head attention: rotary options are given (base, width or layout), but positions are "
        "not rotary: leave them out, or give Positions::rotary.");
  }
}

// Columns of a map, or rows of one, that belong to one head.
Linear part(const Linear& map, int axis, Index number, Index width) {
  Linear result = map;
  const Index begin = number * width;
  result.weight = slice(map.merged(), axis, begin, begin + width).clone();
  result.adapter.reset();
  if (map.bias.defined() && axis == 1) {
    result.bias = slice(map.bias, 0, begin, begin + width).clone();  // (width)
  }
  return result;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(Index d_model, Index num_heads_, Random& random,
                                       const MultiHeadAttentionOptions& o)
    : query(d_model, total("d_k", o.d_k, d_model, num_heads_), random, {o.initializer, o.bias}),
      key(source(o.d_context, d_model),
          total("d_k", o.d_k, d_model, num_heads_) / num_heads_ *
              shared(o.num_key_value_heads, num_heads_),
          random, {o.initializer, o.bias}),
      value(source(o.d_context, d_model),
            total("d_v", o.d_v, d_model, num_heads_) / num_heads_ *
                shared(o.num_key_value_heads, num_heads_),
            random, {o.initializer, o.bias}),
      output(total("d_v", o.d_v, d_model, num_heads_), d_model, random,
             {o.initializer, o.output_bias.value_or(o.bias)}),
      num_heads(num_heads_),
      num_key_value_heads(shared(o.num_key_value_heads, num_heads_)),
      is_causal(o.is_causal),
      window(o.window),
      dropout(o.dropout),
      scores(o.scores),
      positions(o.positions),
      rotary(o.rotary) {
  check(o, query.weight.size(1) / num_heads);
  if (positions == Positions::relative) {
    relative.emplace(num_heads, is_causal, random, o.initializer);
  }
}

void MultiHeadAttention::refuse_distances(const char* what) const {
  const bool by_distance = positions == Positions::rotary || positions == Positions::relative ||
                           positions == Positions::alibi;
  if (!by_distance && window == 0) return;
  throw Error(std::string("multi-head attention: ") + what +
              " has no distances between queries and keys, but this layer " +
              (by_distance ? "has rotary, relative or alibi positions." : "has a window."));
}

Tensor MultiHeadAttention::turned(const Tensor& x, Index first) const {
  if (positions != Positions::rotary) return x;
  const Index d_k = x.size(-1), width = rotary.width == 0 ? d_k : rotary.width;
  if (width == d_k) return tapestry::rotary(x, rotary.layout, first, rotary.base);
  const Tensor part = slice(x, -1, 0, width);  // (..., length, width)
  return concat(
      {tapestry::rotary(part, rotary.layout, first, rotary.base), slice(x, -1, width, d_k)},
      -1);  // (..., length, d_k)
}

Tensor MultiHeadAttention::distance_bias(Index queries, Index keys, Index first) const {
  if (relative) return (*relative)(queries, keys, first);
  return positions == Positions::alibi ? alibi_bias(num_heads, queries, keys, first) : Tensor();
}

Tensor MultiHeadAttention::by_heads(const Tensor& x) const {
  if (num_key_value_heads == num_heads) return x;
  const Shape parts = x.shape().inserted(x.ndim() - 2, num_heads / num_key_value_heads);
  return reshape(expand(unsqueeze(x, -3), parts),
                 x.shape().with(-3, num_heads));  // (..., heads, length, width)
}

Tensor MultiHeadAttention::mix(const Tensor& queries, const Tensor& keys, const Tensor& values,
                               const Mask& mask, const ForwardContext& pass,
                               const Tensor& bias) const {
  const Tensor q = Capture::record("query", queries);  // (..., heads, length, d_k)
  const Tensor k = Capture::record("key", keys);       // (..., kv heads, keys, d_k)
  const Tensor v = Capture::record("value", values);   // (..., kv heads, keys, d_v)
  const double p = pass.training() ? dropout : 0;
  Tensor mixed;  // (..., heads, length, d_v)
  if (pass.need_weights || p > 0 || bias.defined()) {
    mixed = attention(q, by_heads(k), by_heads(v), mask, p, pass.random, bias, scores).output;
  } else {
    Capture::not_stored("scores", "give the model {.need_weights = true}");
    Capture::not_stored("weights", "give the model {.need_weights = true}");
    mixed = num_key_value_heads == num_heads ? fused_attention(q, k, v, mask, scores)
                                             : grouped_attention(q, k, v, mask, scores);
  }
  // (..., length, d_model)
  return Capture::record("output", output(concat_heads(Capture::record("heads", mixed))));
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Mask& mask,
                                      const ForwardContext& pass) const {
  check_rows("x", x, "d_model", query);
  if (x.ndim() == 2) return squeeze((*this)(unsqueeze(x, 0), mask, pass), 0);  // (length, d_model)
  KeyValueCache* const cache = pass.cache;
  const Index before = cache == nullptr ? 0 : cache->length();
  const Tensor q = turned(split_heads(query(x), num_heads), before);  // (batch, heads, length, d_k)
  // (batch, kv heads, length, d_k) and (..., d_v)
  KeyValueCache seen{turned(split_heads(key(x), num_key_value_heads), before),
                     split_heads(value(x), num_key_value_heads)};
  if (cache != nullptr) seen = cache->extended(seen.keys, seen.values);
  Mask visible = is_causal ? Mask::causal(before) & mask : mask;
  if (window > 0) visible = Mask::local(window - 1, before) & visible;
  // (batch, length, d_model)
  const Tensor y = mix(q, seen.keys, seen.values, visible, pass,
                       distance_bias(q.size(-2), seen.keys.size(-2), before));
  if (cache != nullptr) *cache = seen;  // only now, when nothing can throw
  return y;
}

Tensor MultiHeadAttention::cross_attend(const Tensor& x, const Tensor& context, const Mask& mask,
                                        const ForwardContext& pass) const {
  refuse_distances("cross-attention");
  if (pass.cache != nullptr) throw Error("multi-head attention: cross-attention has no cache.");
  check_rows("x", x, "d_model", query);
  check_rows("context", context, "d_context", key);
  if (x.ndim() == 2 && context.ndim() == 2) {
    // (length, d_model)
    return squeeze(cross_attend(unsqueeze(x, 0), unsqueeze(context, 0), mask, pass), 0);
  }
  const Tensor q = split_heads(query(x), num_heads);                  // (..., heads, length, d_k)
  const Tensor k = split_heads(key(context), num_key_value_heads);    // (..., kv heads, keys, d_k)
  const Tensor v = split_heads(value(context), num_key_value_heads);  // (..., kv heads, keys, d_v)
  const Mask visible = is_causal ? Mask::causal() & mask : mask;
  return mix(q, k, v, visible, pass, {});
}

SingleHeadAttention MultiHeadAttention::head(Index number) const {
  if (number < 0 || number >= num_heads) {
    throw Error("multi-head attention: there is no head " + std::to_string(number) +
                "; heads are numbered 0 to " + std::to_string(num_heads - 1) + ".");
  }
  if (key.weight.size(0) != query.weight.size(0)) {
    throw Error(
        "multi-head attention: one head alone is self-attention, but d_context is not d_model.");
  }
  refuse_distances("one head alone");
  const Index d_k = query.weight.size(1) / num_heads, d_v = output.weight.size(0) / num_heads;
  const Index group = number * num_key_value_heads / num_heads;
  Random unused(0);
  SingleHeadAttention one(query.weight.size(0), unused, {.is_causal = is_causal, .scores = scores});
  one.query = part(query, 1, number, d_k);    // (d_model, d_k)
  one.key = part(key, 1, group, d_k);         // (d_model, d_k)
  one.value = part(value, 1, group, d_v);     // (d_model, d_v)
  one.output = part(output, 0, number, d_v);  // (d_v, d_model)
  one.output.bias = Tensor();
  return one;
}

Members MultiHeadAttention::members() const {
  return {
      {"query", query}, {"key", key}, {"value", value}, {"output", output}, {"relative", relative}};
}

}  // namespace tapestry
