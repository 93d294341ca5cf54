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
  if (a.rank() == 4 && b.rank() == 4 && c.rank() == 4 && a[1] == b[1] && a[1] == c[1]) return;
  throw Error("pattern_evidence: weights are " + to_string(a) + ", untrained " + to_string(b) +
              ", shuffled " + to_string(c) +
              ": each must be (sentences, heads, queries, keys), with equally many heads.");
}

struct Scores {
  Tensor values;   // (sentences, heads)
  Tensor counted;  // (sentences): 1 for those that have something to tell
  double uniform;
};

Scores scores_of(Pattern pattern, const Attended& seen) {
  const Index sentences = seen.weights.size(0);
  // For one head: what uniform attention scores is the same for all.
  const Tensor even = uniform_attention(seen.weights.shape().with(1, 1), seen.mask);
  const Tensor null = pattern_score(pattern, even, seen.mask, seen.ids);  // (sentences, 1)
  Tensor counted = Tensor::ones({sentences});
  if (pattern == Pattern::induction) counted = where(squeeze(null, 1), counted, 0);
  const double count = double{sum(counted).item()};
  return {pattern_score(pattern, seen.weights, seen.mask, seen.ids), counted,
          count == 0 ? 0 : double{sum(null).item()} / count};
}

Spread of_head(const Scores& scores, Index head) {
  std::vector<real> kept;
  for (Index i = 0; i < scores.values.size(0); ++i) {
    if (scores.counted.at({i}) != 0) kept.push_back(scores.values.at({i, head}));
  }
  return spread(Tensor({static_cast<Index>(kept.size())}, kept));
}

double squared_error(const Spread& s) {  // of the mean
  return s.count == 0 ? 0 : s.deviation * s.deviation / static_cast<double>(s.count);
}

bool says_little(Pattern pattern) {
  return pattern == Pattern::uniform || pattern == Pattern::sparse;
}

}  // namespace

Spread spread(const Tensor& values) {
  Spread result;
  result.count = values.count();
  const double count = static_cast<double>(result.count);
  if (result.count == 0) return {std::numeric_limits<double>::quiet_NaN(), 0, 0};
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
  const Tensor offsets = best_offset(model.weights, model.mask);
  for (const Pattern pattern : all_patterns) {
    if (pattern == Pattern::induction && model.ids.shape.rank() == 0) continue;
    const Scores trained = scores_of(pattern, model), random = scores_of(pattern, untrained),
                 mixed = scores_of(pattern, shuffled);
    for (Index head = 0; head < model.weights.size(1); ++head) {
      const bool has_offset = pattern == Pattern::fixed_offset;
      result[static_cast<std::size_t>(head)].push_back(
          {pattern, has_offset ? static_cast<Index>(offsets.at({head})) : 0, of_head(trained, head),
           of_head(random, head), of_head(mixed, head), trained.uniform});
    }
  }
  return result;
}

std::string head_name(const std::vector<Evidence>& of_head, double margin) {
  const Evidence* best = nullptr;
  for (const Evidence& one : of_head) {
    std::vector<Spread> baselines = {one.untrained};
    if (one.pattern != Pattern::uniform) baselines.push_back({one.uniform, 0, 0});
    if (!may_be_named(one.score, baselines, margin)) continue;
    if (best != nullptr && says_little(one.pattern) && !says_little(best->pattern)) continue;
    const bool says_more = best == nullptr || says_little(best->pattern) > says_little(one.pattern);
    if (says_more || one.score.mean > best->score.mean) best = &one;
  }
  if (best == nullptr) return "no name";
  const bool has_offset = best->pattern == Pattern::fixed_offset;
  return to_string(best->pattern) + (has_offset ? " " + std::to_string(best->offset) : "");
}

}  // namespace tapestry
