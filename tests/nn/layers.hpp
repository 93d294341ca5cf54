// Helpers for the tests of layers.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/expect.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/transformer.hpp"

namespace tapestry {

constexpr double nearly = in_double ? 1e-11 : 2e-5;  // after a few layers

// Changes every parameter: an unused bias of zeros or gain of ones would not be noticed.
inline void scatter(const Parameters& parameters, Random& random, double deviation = 0.5) {
  for (const Parameter& parameter : parameters) {
    const std::vector<real> values = random.normal(parameter.value.shape(), 0, deviation).values();
    std::copy(values.begin(), values.end(), parameter.value.data());
  }
}

inline MultiHeadAttention scattered(Index d_model, Index heads,
                                    const MultiHeadAttentionOptions& options) {
  Random random(6);
  MultiHeadAttention layer(d_model, heads, random, options);
  scatter(layer.parameters(), random);
  return layer;
}

// A decoder of seven words, two layers and two heads.
inline Transformer small_transformer(Index d_model = 8, double deviation = 0.3) {
  Random random(3);
  Transformer model({.vocab_size = 7, .max_length = 8, .d_model = d_model, .num_heads = 2}, random);
  scatter(model.parameters(), random, deviation);
  return model;
}

inline std::vector<std::string> names(const Parameters& parameters) {
  std::vector<std::string> list;
  for (const Parameter& parameter : parameters) list.push_back(parameter.name);
  return list;
}

inline bool all_finite(const Tensor& x) {
  const std::vector<real> values = x.values();
  return std::all_of(values.begin(), values.end(), [](real value) { return std::isfinite(value); });
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.values() == b.values();
}

inline std::string wrong_gradient_of(const Parameters& parameters, const std::function<Tensor()>& f,
                                     const GradcheckOptions& options = {}) {
  const GradcheckResult result = gradcheck(f, parameters, options);
  return result.passed ? "" : result.message.empty() ? "failed without a word" : result.message;
}

// Multi-head attention one number at a time, in double: x (batch, length, d_model) and context
// (batch, keys, d_context).
struct MultiHeadByHand {
  std::vector<double> weights, heads, output;
};

inline double mapped(const Linear& map, const Tensor& x, Index batch, Index row, Index column) {
  double sum = map.bias.defined() ? element(map.bias, {column}) : 0;
  for (Index c = 0; c < x.size(-1); ++c) {
    sum += element(x, {batch, row, c}) * element(map.weight, {c, column});
  }
  return sum;
}

// A product of a query and a key, times the scale, within the cap.
inline double capped_by_hand(const ScoreOptions& how, double product, Index d_k) {
  const double score = product * how.scale.value_or(1 / std::sqrt(static_cast<double>(d_k)));
  return how.softcap > 0 ? how.softcap * std::tanh(score / how.softcap) : score;
}

// The weights of one query of one head.
inline std::vector<double> weights_by_hand(const MultiHeadAttention& m, const Tensor& x,
                                           const Tensor& context, const Mask& mask,
                                           const Place& query) {
  const Index batch = query[0], head = query[1], i = query[2];
  const Index d_k = m.query.weight.size(1) / m.num_heads;
  std::vector<double> row;
  double total = 0;
  for (Index j = 0; j < context.size(1); ++j) {
    double score = 0;
    for (Index c = head * d_k; c < (head + 1) * d_k; ++c) {
      score += mapped(m.query, x, batch, i, c) * mapped(m.key, context, batch, j, c);
    }
    const bool hidden = !mask.allows(batch, i, j) || (m.is_causal && j > i);
    row.push_back(hidden ? 0 : std::exp(capped_by_hand(m.scores, score, d_k)));
    total += row.back();
  }
  for (double& weight : row) weight = total == 0 ? 0 : weight / total;
  return row;
}

inline MultiHeadByHand multi_head_by_hand(const MultiHeadAttention& m, const Tensor& x,
                                          const Tensor& context, const Mask& mask = {}) {
  MultiHeadByHand result;
  const Index batches = x.size(0), length = x.size(1), keys = context.size(1);
  const Index d_v = m.value.weight.size(1) / m.num_heads;
  for (Index query = 0; query < batches * m.num_heads * length; ++query) {
    const Index b = query / length / m.num_heads, h = query / length % m.num_heads,
                i = query % length;
    const std::vector<double> row = weights_by_hand(m, x, context, mask, {b, h, i});
    result.weights.insert(result.weights.end(), row.begin(), row.end());
    for (Index c = h * d_v; c < (h + 1) * d_v; ++c) {
      double sum = 0;
      for (Index j = 0; j < keys; ++j) {
        sum += row[static_cast<std::size_t>(j)] * mapped(m.value, context, b, j, c);
      }
      result.heads.push_back(sum);
    }
  }
  const auto head_at = [&](Index b, Index i, Index column) {
    const Index h = column / d_v;
    return result
        .heads[static_cast<std::size_t>(((b * m.num_heads + h) * length + i) * d_v + column % d_v)];
  };
  result.output = tabulate({batches, length, m.output.weight.size(1)}, [&](const Place& at) {
    double sum = m.output.bias.defined() ? element(m.output.bias, {at[2]}) : 0;
    for (Index c = 0; c < m.num_heads * d_v; ++c) {
      sum += head_at(at[0], at[1], c) * element(m.output.weight, {c, at[2]});
    }
    return sum;
  });
  return result;
}

}  // namespace tapestry
