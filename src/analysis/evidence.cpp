#include "tapestry/analysis/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

void check(const Attended& model, const Attended& untrained, const Attended& shuffled) {
  const Shape &a = model.weights.shape(), &b = untrained.weights.shape(),
              &c = shuffled.weights.shape();
  if (a.ndim() != 4 || b.ndim() != 4 || c.ndim() != 4 || a[1] != b[1] || a[1] != c[1]) {
    throw Error("pattern_evidence: weights are " + to_string(a) + ", untrained " + to_string(b) +
                ", shuffled " + to_string(c) +
                ": each must be (sentences, heads, queries, keys), with equally many heads.");
  }
  if (model.ids.shape == shuffled.ids.shape) return;
  throw Error("pattern_evidence: ids are " + to_string(model.ids.shape) + ", shuffled " +
              to_string(shuffled.ids.shape) + ": they must have the same shape.");
}

struct Scores {
  Tensor values, uniform;  // (sentences, heads): of the heads, and of uniform attention
  Tensor counted;          // nonzero where the sentence has a row that counts
};

// The score of uniform attention at each head's own best offset.
Tensor uniform_at_offsets(const Attended& seen, const Tensor& even) {
  const Tensor offsets = best_offset(seen.weights, seen.mask);  // (heads)
  const Shape& shape = even.shape();
  std::vector<Tensor> heads = {Tensor::zeros({shape[0], 0})};  // (sentences, 0)
  for (const real offset : offsets.values()) {
    const bool found = offset != 0;
    heads.push_back(found ? weight_on(even, keys_at(static_cast<Index>(offset), shape), seen.mask)
                          : Tensor::zeros({shape[0], 1}));  // (sentences, 1)
  }
  return concat(heads, 1);  // (sentences, heads)
}

Scores scores_of(Pattern pattern, const Attended& seen) {
  const Shape& shape = seen.weights.shape();
  // Alike for all heads: (sentences, 1, queries, keys).
  const Tensor even = uniform_attention(shape.with(1, 1), seen.mask);
  const auto of_even = [&](Pattern p) {  // (sentences, heads)
    return expand(pattern_score(p, even, seen.mask, seen.ids), {shape[0], shape[1]});
  };
  Scores result;
  result.values = pattern_score(pattern, seen.weights, seen.mask, seen.ids);  // (sentences, heads)
  result.uniform =
      pattern == Pattern::fixed_offset ? uniform_at_offsets(seen, even) : of_even(pattern);
  // Uniform attention scores 0 only where no row counts, but is never sparse.
  result.counted = pattern == Pattern::sparse ? of_even(Pattern::uniform) : result.uniform;
  return result;
}

// Of one head, over the sentences that count: (kept).
Tensor of_head(const Tensor& values, const Tensor& counted, Index head) {
  std::vector<real> kept;
  for (Index i = 0; i < values.size(0); ++i) {
    if (counted.at({i, head}) != 0) kept.push_back(values.at({i, head}));
  }
  return Tensor({static_cast<Index>(kept.size())}, kept);
}

Spread spread_of_head(const Scores& scores, Index head) {
  return spread(of_head(scores.values, scores.counted, head));
}

double share_of_half(const Tensor& values) {  // that are 0.5 or more; NaN is not
  double count = 0;
  for (const real value : values.values()) count += value >= 0.5 ? 1 : 0;
  return count / static_cast<double>(std::max<Index>(values.numel(), 1));
}

// `letter` and `place` of the last evidence of each head.
void add_disagreement(const Attended& shuffled, const Indices& before,
                      std::vector<std::vector<Evidence>>& result) {
  Indices letter = induction_keys(shuffled.ids), place = induction_keys(before);
  for (std::size_t i = 0; i < letter.values.size(); ++i) {
    std::int32_t &here = letter.values[i], &there = place.values[i];
    if (here < 0 || there < 0 || here == there) here = there = -1;
  }
  const Tensor even =  // (sentences, heads, queries, keys)
      uniform_attention(shuffled.weights.shape(), shuffled.mask);
  const auto scores = [&](const Indices& keys) {  // (sentences, heads) each
    return Scores{
        weight_on(shuffled.weights, keys, shuffled.mask), {}, weight_on(even, keys, shuffled.mask)};
  };
  const Scores at_letter = scores(letter), at_place = scores(place);
  for (std::size_t head = 0; head < result.size(); ++head) {
    Evidence& last = result[head].back();
    last.letter = spread_of_head(at_letter, static_cast<Index>(head));
    last.place = spread_of_head(at_place, static_cast<Index>(head));
  }
}

double squared_error(const Spread& s) {  // of the mean
  return s.count == 0 ? 0 : s.deviation * s.deviation / static_cast<double>(s.count);
}

bool is_unspecific(Pattern pattern) {
  return pattern == Pattern::uniform || pattern == Pattern::sparse;
}

// The name that a pattern gives, or "" if it gives none.
std::string name_of(const Evidence& one, double margin) {
  std::vector<Spread> baselines = {one.untrained};
  if (one.pattern != Pattern::uniform) baselines.push_back({.mean = one.uniform});
  const bool fits = one.score.mean >= 0.5 && one.holds >= 0.75;
  if (!fits || !may_be_named(one.score, baselines, margin)) return "";
  if (one.pattern == Pattern::induction && !may_be_named(one.letter, {one.place}, margin)) {
    return may_be_named(one.place, {one.letter}, margin) ? "by place" : "";
  }
  const bool has_offset = one.pattern == Pattern::fixed_offset;
  return to_string(one.pattern) + (has_offset ? " " + std::to_string(one.offset) : "");
}

}  // namespace

Spread spread(const Tensor& values) {
  Spread result;
  result.count = values.numel();
  const double count = static_cast<double>(result.count);
  if (result.count == 0) return {.mean = std::numeric_limits<double>::quiet_NaN()};
  for (const real value : values.values()) result.mean += double{value} / count;
  double squares = 0;
  for (const real value : values.values()) {
    squares += (double{value} - result.mean) * (double{value} - result.mean);
  }
  result.deviation = result.count < 2 ? 0 : std::sqrt(squares / (count - 1));
  return result;
}

bool may_be_named(const Spread& score, const std::vector<Spread>& baselines, double margin) {
  if (baselines.empty()) {
    throw Error(
        "may_be_named: there is no baseline. Give at least the scores of the untrained model.");
  }
  return std::all_of(baselines.begin(), baselines.end(), [&](const Spread& baseline) {
    const double above = score.mean - baseline.mean;
    return above >= margin &&
           above >= 2 * std::sqrt(squared_error(score) + squared_error(baseline));
  });
}

std::vector<std::vector<Evidence>> pattern_evidence(const Attended& model,
                                                    const Attended& untrained,
                                                    const Attended& shuffled) {
  check(model, untrained, shuffled);
  std::vector<std::vector<Evidence>> result(static_cast<std::size_t>(model.weights.size(1)));
  const Tensor offsets = best_offset(model.weights, model.mask);  // (heads)
  for (const Pattern pattern : all_patterns) {
    if (pattern == Pattern::induction && model.ids.shape.ndim() == 0) continue;
    const Scores trained = scores_of(pattern, model), random = scores_of(pattern, untrained),
                 mixed = scores_of(pattern, shuffled);
    for (Index head = 0; head < model.weights.size(1); ++head) {
      const Tensor scores = of_head(trained.values, trained.counted, head);  // (counted)
      Evidence one{.pattern = pattern, .score = spread(scores), .holds = share_of_half(scores)};
      if (pattern == Pattern::fixed_offset) one.offset = static_cast<Index>(offsets.at({head}));
      one.untrained = spread_of_head(random, head);
      one.shuffled = spread_of_head(mixed, head);
      one.uniform = spread(of_head(trained.uniform, trained.counted, head)).mean;
      result[static_cast<std::size_t>(head)].push_back(one);
    }
    if (pattern == Pattern::induction) add_disagreement(shuffled, model.ids, result);
  }
  return result;
}

std::string head_name(const std::vector<Evidence>& of_head, double margin) {
  const Evidence* best = nullptr;
  for (const Evidence& one : of_head) {
    if (name_of(one, margin).empty()) continue;
    if (best != nullptr && is_unspecific(one.pattern) && !is_unspecific(best->pattern)) continue;
    const bool more_specific =
        best == nullptr || is_unspecific(best->pattern) > is_unspecific(one.pattern);
    if (more_specific || one.score.mean > best->score.mean) best = &one;
  }
  return best == nullptr ? "none" : name_of(*best, margin);
}

}  // namespace tapestry
