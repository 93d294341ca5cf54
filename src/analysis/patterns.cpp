#include "tapestry/analysis/patterns.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

void check(const Shape& weights) {
  if (weights.rank() >= 2) return;
  throw Error("attention pattern: weights are " + to_string(weights) +
              ": they must be (..., queries, keys).");
}

// How many keys each row may see: (queries), or as many axes as rows have.
Tensor visible_keys(const Shape& weights, const Mask& mask) {
  check(weights);
  return sum(mask.tensor(weights), -1);
}

Tensor at_least(const Tensor& x, double least) { return clamp(x - (least - 1), 0, 1); }  // whole x

// Entropy / ln(n), or the like: x where n is at least 2, else 0.
Tensor where_a_choice(const Tensor& keys, const Tensor& x) {
  return where(at_least(keys, 2), x, 0);
}

// 1 where key = query + offset.
Tensor diagonal(Index queries, Index keys, Index offset) {
  Tensor result = Tensor::zeros({queries, keys});
  for (Index i = std::max<Index>(0, -offset); i < queries && i + offset < keys; ++i) {
    result.set({i, i + offset}, 1);
  }
  return result;
}

// 1 at the key after the last earlier place of the word at the query.
Tensor after_last_place(const Shape& weights, const Indices& ids) {
  const Index keys = weights[-1];
  const bool batched = ids.shape.rank() == 2 && weights.rank() > 2 && ids.shape[0] == weights[0];
  if (ids.shape.rank() < 1 || ids.shape[-1] != keys || weights[-2] != keys ||
      (ids.shape.rank() == 2 && !batched) || ids.shape.rank() > 2) {
    throw Error("induction: weights are " + to_string(weights) + ", ids are " +
                to_string(ids.shape) +
                ": there must be an id for each key, and as many queries as keys; ids may be "
                "(batch, keys) if weights are (batch, ..., queries, keys).");
  }
  Shape shape{keys, keys};
  while (batched && shape.rank() < weights.rank()) shape = shape.inserted(0, 1);
  if (batched) shape = shape.with(0, ids.shape[0]);
  Tensor result = Tensor::zeros(shape);
  for (Index b = 0; b < ids.shape.count() / std::max<Index>(keys, 1); ++b) {
    std::map<std::int32_t, Index> last;
    for (Index i = 0; i < keys; ++i) {
      const std::int32_t id = ids.values[static_cast<std::size_t>(b * keys + i)];
      if (const auto place = last.find(id); place != last.end()) {
        result.data()[(b * keys + i) * keys + place->second + 1] = 1;
      }
      last[id] = i;
    }
  }
  return result;
}

// Mean weight on the keys that `target` marks, at most one in each row.
Tensor mean_weight_on(const Tensor& weights, const Mask& mask, const Tensor& target) {
  const Tensor visible = mask.tensor(weights.shape());
  const Tensor rows = sum(visible * target, -1) * at_least(sum(visible, -1), 2);
  return mean_of_rows(sum(where(target, weights, 0), -1), rows);
}

Tensor on_offset(const Tensor& weights, const Mask& mask, Index offset) {
  check(weights.shape());
  return mean_weight_on(weights, mask, diagonal(weights.size(-2), weights.size(-1), offset));
}

// The offsets that fixed_offset may choose.
std::vector<Index> offsets(const Shape& weights, const Mask& mask) {
  const Tensor visible = mask.tensor(weights), count = at_least(sum(visible, -1, true), 2);
  const double rows = double{sum(count).item()};
  std::vector<Index> result;
  for (Index offset = 1 - weights[-2]; offset < weights[-1]; ++offset) {
    if (offset >= -1 && offset <= 1) continue;
    const Tensor seen = visible * count * diagonal(weights[-2], weights[-1], offset);
    const double see_it = double{sum(seen).item()};
    if (see_it > 0 && 2 * see_it >= rows) result.push_back(offset);
  }
  return result;
}

// Mean over all axes but the last: (..., heads) -> (heads), () -> ().
std::vector<real> by_head(const Tensor& scores) {
  if (scores.rank() == 0) return scores.values();
  return mean(reshape(scores, {-1, scores.size(-1)}), 0).values();
}

struct BestOffset {
  std::vector<Index> offsets;  // of each head
  Tensor scores;               // (..., heads)
};

BestOffset find_best_offset(const Tensor& weights, const Mask& mask) {
  check(weights.shape());
  BestOffset best;
  std::vector<real> greatest;
  best.scores = Tensor::zeros(weights.shape().removed(-1).removed(-1));
  best.offsets.assign(weights.rank() == 2 ? 1 : static_cast<std::size_t>(weights.size(-3)), 0);
  if (best.scores.count() == 0) return best;
  for (const Index offset : offsets(weights.shape(), mask)) {
    const Tensor scores = on_offset(weights, mask, offset);
    const std::vector<real> means = by_head(scores);
    if (greatest.empty()) greatest.assign(means.size(), -1);
    Tensor better = Tensor::zeros({static_cast<Index>(means.size())});
    for (std::size_t h = 0; h < means.size(); ++h) {
      if (means[h] <= greatest[h]) continue;  // of equals the first; NaN is taken
      greatest[h] = means[h];
      best.offsets[h] = offset;
      better.data()[h] = 1;
    }
    best.scores = where(scores.rank() == 0 ? squeeze(better, 0) : better, scores, best.scores);
  }
  return best;
}

Tensor sparseness(const Tensor& weights, const Mask& mask) {
  const Tensor keys = visible_keys(weights.shape(), mask);
  const Tensor beyond = exp(attention_entropy(weights)) - 1;  // keys looked at, beyond the first
  return clamp(1 - where_a_choice(keys, beyond / maximum(keys - 1, 1)), 0, 1);
}

}  // namespace

Tensor attention_entropy(const Tensor& weights) {
  check(weights.shape());
  const Tensor some = where(weights, weights, 1);  // 1 ln 1 = 0, as 0 ln 0 shall be
  return maximum(-sum(some * log(some), -1), 0);
}

Tensor attention_evenness(const Tensor& weights, const Mask& mask) {
  const Tensor keys = visible_keys(weights.shape(), mask);
  const Tensor share = attention_entropy(weights) / log(maximum(keys, 2));
  return where_a_choice(keys, minimum(share, 1));
}

Tensor attention_distance(const Tensor& weights) {
  check(weights.shape());
  const Tensor queries = unsqueeze(Tensor::arange(weights.size(-2)), 1);
  const Tensor keys = Tensor::arange(weights.size(-1));
  return sum(weights * maximum(queries - keys, keys - queries), -1);
}

Tensor rows_that_count(const Shape& weights, const Mask& mask) {
  return at_least(visible_keys(weights, mask), 2);
}

Tensor mean_of_rows(const Tensor& by_row, const Tensor& rows) {
  const Tensor each = expand(rows, by_row.shape());
  return sum(where(each, by_row, 0), -1) / maximum(sum(each, -1), 1);
}

Tensor uniform_attention(const Shape& weights, const Mask& mask) {
  check(weights);
  const Tensor visible = mask.tensor(weights);
  return expand(visible / maximum(sum(visible, -1, true), 1), weights);
}

std::string to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::self:
      return "self";
    case Pattern::previous:
      return "previous word";
    case Pattern::next:
      return "next word";
    case Pattern::first:
      return "first word";
    case Pattern::fixed_offset:
      return "fixed offset";
    case Pattern::induction:
      return "induction";
    case Pattern::uniform:
      return "uniform";
    case Pattern::sparse:
      return "sparse";
  }
  return "?";
}

Tensor pattern_score(Pattern pattern, const Tensor& weights, const Mask& mask, const Indices& ids) {
  check(weights.shape());
  const auto mean_of = [&](const Tensor& by_row) {
    return mean_of_rows(by_row, rows_that_count(weights.shape(), mask));
  };
  switch (pattern) {
    case Pattern::self:
      return on_offset(weights, mask, 0);
    case Pattern::previous:
      return on_offset(weights, mask, -1);
    case Pattern::next:
      return on_offset(weights, mask, 1);
    case Pattern::first: {
      Tensor target = Tensor::zeros({weights.size(-1)});
      if (target.count() > 0) target.set({0}, 1);
      return mean_weight_on(weights, mask, target);
    }
    case Pattern::fixed_offset:
      return find_best_offset(weights, mask).scores;
    case Pattern::induction:
      return mean_weight_on(weights, mask, after_last_place(weights.shape(), ids));
    case Pattern::uniform:
      return mean_of(attention_evenness(weights, mask));
    case Pattern::sparse:
      return mean_of(sparseness(weights, mask));
  }
  throw Error("attention pattern: there is no such pattern.");
}

Tensor best_offset(const Tensor& weights, const Mask& mask) {
  const std::vector<Index> offsets = find_best_offset(weights, mask).offsets;
  Tensor result = Tensor::uninitialised({static_cast<Index>(offsets.size())});
  std::copy(offsets.begin(), offsets.end(), result.data());
  return weights.rank() == 2 ? squeeze(result, 0) : result;
}

}  // namespace tapestry
