#include "tapestry/analysis/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
namespace {

void check(const Shape& weights) {
  if (weights.ndim() >= 2) return;
  throw Error("attention pattern: weights are " + to_string(weights) +
              ": they must be (..., queries, keys).");
}

// How many keys each row may see.
Tensor visible_keys(const Shape& weights, const Mask& mask) {
  check(weights);
  return sum(mask.tensor(weights), -1);  // (queries) or (batch, 1, ..., queries)
}

Tensor at_least(const Tensor& x, double least) { return clamp(x - (least - 1), 0, 1); }  // whole x

// x for rows that see two keys or more, 0 for the others.
Tensor where_a_choice(const Tensor& keys, const Tensor& x) {
  return where(at_least(keys, 2), x, 0);  // (..., queries)
}

// One-hot keys of each query: (queries, keys), or (batch, 1, ..., queries, keys).
Tensor marked(const char* name, const Shape& weights, const Indices& keys) {
  const bool batched = keys.shape.ndim() == 2 && weights.ndim() > 2 && keys.shape[0] == weights[0];
  if (keys.shape.ndim() < 1 || (keys.shape.ndim() > 1 && !batched) ||
      keys.shape[-1] != weights[-2]) {
    throw Error(std::string(name) + ": weights are " + to_string(weights) + ", " +
                to_string(keys.shape) +
                " were given for their queries: there must be one for each query, (queries), or "
                "(batch, queries) if weights are (batch, ..., queries, keys).");
  }
  keys.check(name);
  Shape shape{weights[-2], weights[-1]};
  while (batched && shape.ndim() < weights.ndim()) shape = shape.inserted(0, 1);
  if (batched) shape = shape.with(0, weights[0]);
  Tensor result = Tensor::zeros(shape);  // (queries, keys) or (batch, 1, ..., queries, keys)
  for (std::size_t i = 0; i < keys.values.size(); ++i) {
    if (keys.values[i] >= weights[-1]) {
      throw Error(std::string(name) + ": there is no key " + std::to_string(keys.values[i]) +
                  "; there are " + std::to_string(weights[-1]) + ", from 0.");
    }
    if (keys.values[i] < 0) continue;
    raw(result)[static_cast<Index>(i) * weights[-1] + keys.values[i]] = 1;
  }
  return result;
}

Tensor diagonal(const Shape& weights, Index offset) {
  return marked("attention pattern", weights, keys_at(offset, weights));  // (queries, keys)
}

Tensor first_key(const Shape& weights) {  // (queries, keys)
  const auto queries = static_cast<std::size_t>(weights[-2]);
  const std::int32_t first = weights[-1] > 0 ? 0 : -1;
  return marked("attention pattern", weights,
                Indices({weights[-2]}, std::vector<std::int32_t>(queries, first)));
}

// Mean weight on the marked keys, over the rows that count and may see theirs; visible is the mask.
// weights (..., queries, keys), rows (..., queries) -> (...).
Tensor mean_weight_on(const Tensor& target, const Tensor& weights, const Tensor& visible) {
  const Tensor rows = sum(visible * target, -1) * at_least(sum(visible, -1), 2);  // (..., queries)
  return mean_of_rows(sum(where(target, weights, 0), -1), rows);                  // (...)
}

struct Offset {
  Index offset;
  double share;  // sentences in which a row that counts sees it
};

// f(place) for the cells (i, i + offset) of one matrix, whose first cell has the place `begin`.
template <class F>
void along_diagonal(Index offset, Index queries, Index keys, Index begin, F&& f) {
  for (Index i = std::max<Index>(0, -offset); i < queries && i + offset < keys; ++i) {
    f(static_cast<std::size_t>(begin + i * keys + i + offset));
  }
}

// The candidates of fixed_offset. cells: 1 for those that a row that counts sees, (queries, keys)
// or (batch, 1, ..., queries, keys); `rows` is how many rows count.
std::vector<Offset> offsets(const Tensor& cells, double rows) {
  const Index queries = cells.size(-2), keys = cells.size(-1), size = queries * keys;
  const std::vector<real> seen = cells.values();
  std::vector<Offset> result;
  for (Index offset = 1 - queries; offset < keys; ++offset) {
    if (offset >= -1 && offset <= 1) continue;
    double all = 0, sentences = 0;
    for (Index begin = 0; begin < cells.numel(); begin += size) {
      double count = 0;
      along_diagonal(offset, queries, keys, begin,
                     [&](std::size_t at) { count += double{seen[at]}; });
      all += count;
      sentences += count > 0 ? 1 : 0;
    }
    if (all == 0 || 2 * all < rows) continue;
    result.push_back({offset, sentences / static_cast<double>(cells.numel() / size)});
  }
  return result;
}

// Mean weight on the key at this offset, over the rows that see it and count: weights and cells
// (..., queries, keys) -> (...).
Tensor mean_at_offset(Index offset, const Shape& shape, const std::vector<real>& weights,
                      const std::vector<real>& cells) {
  Tensor scores = Tensor::empty(shape.removed(-1).removed(-1));  // (...)
  const Index size = shape[-2] * shape[-1];
  for (Index map = 0; map < scores.numel(); ++map) {
    double sum = 0, count = 0;
    along_diagonal(offset, shape[-2], shape[-1], map * size, [&](std::size_t at) {
      if (cells[at] == 0) return;
      sum += double{weights[at]};
      ++count;
    });
    raw(scores)[map] = static_cast<real>(sum / std::max(count, 1.0));
  }
  return scores;
}

// Mean over all axes but the last: (..., heads) -> (heads), () -> ().
std::vector<real> by_head(const Tensor& scores) {
  if (scores.ndim() == 0) return scores.values();
  return mean(reshape(scores, {-1, scores.size(-1)}), 0).values();  // (heads)
}

struct BestOffset {
  std::vector<Index> offsets;  // of each head
  Tensor scores;               // (..., heads), without axes if weights are (queries, keys)
};

BestOffset find_best_offset(const Tensor& weights, const Mask& mask) {
  check(weights.shape());
  BestOffset best;
  std::vector<real> greatest;
  best.scores = Tensor::zeros(weights.shape().removed(-1).removed(-1));  // (...)
  best.offsets.assign(weights.ndim() == 2 ? 1 : static_cast<std::size_t>(weights.size(-3)), 0);
  if (best.scores.numel() == 0) return best;
  const Tensor visible = mask.tensor(weights.shape());      // (queries, keys) or (batch, 1, ...)
  const Tensor rows = at_least(sum(visible, -1, true), 2);  // (..., queries, 1): those that count
  const Tensor cells = visible * rows;                      // (..., queries, keys)
  const std::vector<real> all = weights.values(), counted = expand(cells, weights.shape()).values();
  for (const auto& [offset, share] : offsets(cells, double{sum(rows).item()})) {
    const Tensor scores = mean_at_offset(offset, weights.shape(), all, counted);  // (...)
    const std::vector<real> means = by_head(scores / share);
    if (greatest.empty()) greatest.assign(means.size(), -1);
    Tensor better = Tensor::zeros({static_cast<Index>(means.size())});  // (heads)
    for (std::size_t h = 0; h < means.size(); ++h) {
      // Of equals the first; NaN counts as larger than any number.
      if (std::isnan(greatest[h]) || means[h] <= greatest[h]) continue;
      greatest[h] = means[h];
      best.offsets[h] = offset;
      raw(better)[h] = 1;
    }
    best.scores =
        where(scores.ndim() == 0 ? squeeze(better, 0) : better, scores, best.scores);  // (...)
  }
  return best;
}

Tensor sparseness(const Tensor& weights, const Mask& mask) {
  const Tensor keys = visible_keys(weights.shape(), mask);    // (..., queries)
  const Tensor beyond = exp(attention_entropy(weights)) - 1;  // (..., queries): keys but the first
  return clamp(1 - where_a_choice(keys, beyond / maximum(keys - 1, 1)), 0, 1);  // (..., queries)
}

}  // namespace

Tensor attention_entropy(const Tensor& weights) {
  check(weights.shape());
  const Tensor some = where(weights, weights, 1);  // (..., queries, keys); 1 ln 1 = 0, as 0 ln 0 is
  return maximum(-sum(some * log(some), -1), 0);   // (..., queries)
}

Tensor normalized_entropy(const Tensor& weights, const Mask& mask) {
  const Tensor keys = visible_keys(weights.shape(), mask);                  // (..., queries)
  const Tensor share = attention_entropy(weights) / log(maximum(keys, 2));  // (..., queries)
  return where_a_choice(keys, minimum(share, 1));                           // (..., queries)
}

Tensor attention_distance(const Tensor& weights) {
  check(weights.shape());
  const Tensor queries = unsqueeze(Tensor::arange(weights.size(-2)), 1);  // (queries, 1)
  const Tensor keys = Tensor::arange(weights.size(-1));                   // (keys)
  return sum(weights * maximum(queries - keys, keys - queries), -1);      // (..., queries)
}

Tensor rows_that_count(const Shape& weights, const Mask& mask) {
  return at_least(visible_keys(weights, mask), 2);  // (queries) or (batch, 1, ..., queries)
}

Tensor mean_of_rows(const Tensor& by_row, const Tensor& rows) {
  const Tensor each = expand(rows, by_row.shape());                    // (..., queries)
  return sum(where(each, by_row, 0), -1) / maximum(sum(each, -1), 1);  // (...)
}

Tensor uniform_attention(const Shape& weights, const Mask& mask) {
  check(weights);
  const Tensor visible = mask.tensor(weights);  // (queries, keys) or (batch, 1, ..., queries, keys)
  return expand(visible / maximum(sum(visible, -1, true), 1), weights);  // (..., queries, keys)
}

Indices keys_at(Index offset, const Shape& weights) {
  check(weights);
  const auto queries = static_cast<std::size_t>(weights[-2]);
  Indices keys({weights[-2]}, std::vector<std::int32_t>(queries, -1));
  for (Index i = std::max<Index>(0, -offset); i < weights[-2] && i + offset < weights[-1]; ++i) {
    keys.values[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i + offset);
  }
  return keys;
}

Indices induction_keys(const Indices& ids) {
  Indices keys = ids;
  const Index length = ids.shape.ndim() == 0 ? 1 : std::max<Index>(ids.shape[-1], 1);
  std::map<std::int32_t, Index> last;
  for (std::size_t i = 0; i < ids.values.size(); ++i) {
    const Index at = static_cast<Index>(i) % length;
    if (at == 0) last.clear();
    const auto place = last.find(ids.values[i]);
    keys.values[i] = place == last.end() ? -1 : static_cast<std::int32_t>(place->second + 1);
    last[ids.values[i]] = at;
  }
  return keys;
}

Tensor weight_on(const Tensor& weights, const Indices& keys, const Mask& mask) {
  check(weights.shape());
  return mean_weight_on(marked("weight_on", weights.shape(), keys), weights,
                        mask.tensor(weights.shape()));  // (...)
}

std::string to_string(Pattern pattern) {
  static constexpr std::array<const char*, all_patterns.size()> names = {
      "self",         "previous word", "next word", "first word",
      "fixed offset", "induction",     "uniform",   "sparse"};
  return names.at(static_cast<std::size_t>(pattern));
}

Tensor pattern_score(Pattern pattern, const Tensor& weights, const Mask& mask, const Indices& ids) {
  const Shape& shape = weights.shape();
  check(shape);
  if (pattern == Pattern::fixed_offset) return find_best_offset(weights, mask).scores;
  if (pattern == Pattern::uniform || pattern == Pattern::sparse) {
    const bool even = pattern == Pattern::uniform;
    return mean_of_rows(even ? normalized_entropy(weights, mask) : sparseness(weights, mask),
                        rows_that_count(shape, mask));  // (...)
  }
  // (queries, keys) or, for induction, (batch, 1, ..., queries, keys)
  const Tensor target = pattern == Pattern::self       ? diagonal(shape, 0)
                        : pattern == Pattern::previous ? diagonal(shape, -1)
                        : pattern == Pattern::next     ? diagonal(shape, 1)
                        : pattern == Pattern::first
                            ? first_key(shape)
                            : marked("induction", shape, induction_keys(ids));
  return mean_weight_on(target, weights, mask.tensor(shape));  // (...)
}

Tensor best_offset(const Tensor& weights, const Mask& mask) {
  const std::vector<Index> offsets = find_best_offset(weights, mask).offsets;
  Tensor result = Tensor::empty({static_cast<Index>(offsets.size())});  // (heads)
  std::copy(offsets.begin(), offsets.end(), raw(result));
  return weights.ndim() == 2 ? squeeze(result, 0) : result;  // (heads), or () of one head
}

}  // namespace tapestry
