#include "tapestry/nn/self_attention.hpp"

#include "attention/operands.hpp"
#include "tapestry/error.hpp"

namespace tapestry {
namespace {

Index width(const char* name, Index asked, Index d_model) {
  if (d_model < 1 || asked < 0) {
    throw Error("self-attention: d_model is " + std::to_string(d_model) + " and " + name + " is " +
                std::to_string(asked) + ": d_model must be at least 1, and " + name +
                " too, or 0 for d_model's value.");
  }
  return asked == 0 ? d_model : asked;
}

}  // namespace

SingleHeadAttention::SingleHeadAttention(Index d_model, Random& random,
                                         const SingleHeadAttentionOptions& o)
    : query(d_model, width("d_k", o.d_k, d_model), random, {o.initializer, o.bias}),
      key(d_model, width("d_k", o.d_k, d_model), random, {o.initializer, o.bias}),
      value(d_model, width("d_v", o.d_v, d_model), random, {o.initializer, o.bias}),
      output(width("d_v", o.d_v, d_model), d_model, random, {o.initializer, o.bias}),
      is_causal(o.is_causal),
      scores(o.scores) {
  check_scores("self-attention", scores);
}

void SingleHeadAttention::check(const Tensor& x) const {
  if (x.ndim() < 2 || x.size(-1) != query.weight.size(0)) {
    throw Error("self-attention: x is " + to_string(x.shape()) +
                ": it must be (..., length, d_model) with d_model = " +
                std::to_string(query.weight.size(0)) + ".");
  }
}

Tensor SingleHeadAttention::operator()(const Tensor& x, const Mask& mask) const {
  check(x);
  return output(fused_attention(query(x), key(x), value(x), visible(mask), scores));
}

Attention SingleHeadAttention::with_weights(const Tensor& x, const Mask& mask) const {
  check(x);
  Attention result = attention(query(x), key(x), value(x), visible(mask), 0, nullptr, {}, scores);
  result.output = output(result.output);
  return result;
}

Members SingleHeadAttention::members() const {
  return {{"query", query}, {"key", key}, {"value", value}, {"output", output}};
}

}  // namespace tapestry
