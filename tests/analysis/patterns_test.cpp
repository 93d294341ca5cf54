// Entropy, evenness, distance and the detectors of patterns against plain loops.
#include "tapestry/analysis/patterns.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "analysis/weights.hpp"
#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

const std::vector<Mask> masks = {
    {}, Mask::causal(), Mask::causal() & Mask::local(2), Mask::padding({5, 3, 0}), half_hidden};
const Shape batch_shape{3, 2, 5, 5};
const Indices batch_ids({3, 5}, {4, 7, 4, 7, 4, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6});

// One head of one sentence.
struct Rows {
  const Tensor& weights;
  const Mask& mask;
  Index batch, head;

  Index queries() const { return weights.size(-2); }
  Index keys() const { return weights.size(-1); }
  double at(Index i, Index j) const { return element(weights, {batch, head, i, j}); }
  bool sees(Index i, Index j) const { return j >= 0 && j < keys() && mask.allows(batch, i, j); }
  int visible(Index i) const {
    int count = 0;
    for (Index j = 0; j < keys(); ++j) count += sees(i, j);
    return count;
  }
  double entropy(Index i) const {
    double sum = 0;
    for (Index j = 0; j < keys(); ++j) sum -= at(i, j) > 0 ? at(i, j) * std::log(at(i, j)) : 0;
    return sum;
  }
};

// Mean of f over the rows that have one.
double mean_of(const Rows& rows, const std::function<std::optional<double>(Index)>& f) {
  double sum = 0;
  int count = 0;
  for (Index i = 0; i < rows.queries(); ++i) {
    if (rows.visible(i) < 2 || !f(i)) continue;
    sum += *f(i);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

double on_key(const Rows& rows, const std::function<Index(Index)>& key) {
  return mean_of(rows, [&](Index i) {
    const Index j = key(i);
    return rows.sees(i, j) ? std::optional(rows.at(i, j)) : std::nullopt;
  });
}

double by_hand(Pattern pattern, const Rows& rows) {
  const auto of_keys = [&](const std::function<double(double, double)>& f) {
    return mean_of(rows, [&](Index i) { return f(rows.entropy(i), rows.visible(i)); });
  };
  if (pattern == Pattern::self) return on_key(rows, [](Index i) { return i; });
  if (pattern == Pattern::previous) return on_key(rows, [](Index i) { return i - 1; });
  if (pattern == Pattern::next) return on_key(rows, [](Index i) { return i + 1; });
  if (pattern == Pattern::first) return on_key(rows, [](Index) { return 0; });
  if (pattern == Pattern::uniform) {
    return of_keys([](double entropy, double keys) { return entropy / std::log(keys); });
  }
  if (pattern == Pattern::sparse) {
    return of_keys([](double h, double keys) { return (keys - std::exp(h)) / (keys - 1); });
  }
  return on_key(rows, [&](Index i) -> Index {  // induction
    for (Index j = i - 1; j >= 0; --j) {
      const auto id = [&](Index k) { return batch_ids.values[std::size_t(rows.batch * 5 + k)]; };
      if (id(j) == id(i)) return j + 1;
    }
    return -1;
  });
}

// Mean weight of a head on key i + offset, over the three sentences that have it; 0 if less than
// half of the rows see it.
double offset_by_hand(const Tensor& weights, const Mask& mask, Index head, Index offset) {
  int seen = 0, rows = 0, having_it = 0;
  double sum = 0;
  for (Index b = 0; b < 3; ++b) {
    const Rows one{weights, mask, b, head};
    const int before = seen;
    for (Index i = 0; i < one.queries(); ++i) {
      rows += one.visible(i) >= 2;
      seen += one.visible(i) >= 2 && one.sees(i, i + offset);
    }
    having_it += seen > before;
    sum += on_key(one, [&](Index i) { return i + offset; });
  }
  return having_it == 0 || 2 * seen < rows ? 0 : sum / having_it;
}

// The offset of one head with the greatest score, and that; 0 and 0 if there is none.
std::pair<Index, double> best_by_hand(const Tensor& weights, const Mask& mask, Index head) {
  std::pair<Index, double> best;
  for (Index offset = 1 - weights.size(-2); offset < weights.size(-1); ++offset) {
    if (offset >= -1 && offset <= 1) continue;
    const double score = offset_by_hand(weights, mask, head, offset);
    if (score > best.second) best = {offset, score};
  }
  return best;
}

const std::vector<Mask> masks_of_any_size = {
    {}, Mask::causal(1), Mask::local(2), Mask::padding({3, 2, 0})};

}  // namespace

TEST_CASE("entropy, evenness and distance of rows are what plain loops give",
          "[phase3][analysis]") {
  const Shape by_row{3, 2, 5};
  for (const Mask& mask : masks) {
    const Tensor weights = weights_under(mask, batch_shape);
    const auto rows = [&](const Place& at) { return Rows{weights, mask, at[0], at[1]}; };
    CHECK(difference(attention_entropy(weights), by_row,
                     tabulate(by_row, [&](const Place& at) { return rows(at).entropy(at[2]); }),
                     nearly_equal) == "");
    const auto evenness = [&](const Place& at) {
      const int keys = rows(at).visible(at[2]);
      return keys < 2 ? 0 : rows(at).entropy(at[2]) / std::log(keys);
    };
    CHECK(difference(normalized_entropy(weights, mask), by_row, tabulate(by_row, evenness),
                     nearly_equal) == "");
    const auto distance = [&](const Place& at) {
      double sum = 0;
      for (Index j = 0; j < 5; ++j) sum += rows(at).at(at[2], j) * std::abs(double(at[2] - j));
      return sum;
    };
    CHECK(difference(attention_distance(weights), by_row, tabulate(by_row, distance),
                     nearly_equal) == "");
  }
}

TEST_CASE("every detector gives what plain loops give, under every mask", "[phase3][analysis]") {
  const Shape by_head{3, 2};
  for (std::size_t m = 0; m < masks.size(); ++m) {
    const Tensor weights = weights_under(masks[m], batch_shape, m);
    for (const Pattern pattern : all_patterns) {
      if (pattern == Pattern::fixed_offset) continue;
      CAPTURE(m, to_string(pattern));
      const Tensor scores = pattern_score(pattern, weights, masks[m], batch_ids);
      const auto expected = [&](const Place& at) {
        return by_hand(pattern, {weights, masks[m], at[0], at[1]});
      };
      CHECK(difference(scores, by_head, tabulate(by_head, expected), nearly_equal) == "");
      CHECK(min(scores).item() >= 0);
      CHECK(max(scores).item() <= 1);
    }
  }
}

TEST_CASE("detectors of weights with more keys than queries, or fewer", "[phase3][analysis]") {
  for (const auto& [queries, keys] : {std::pair<Index, Index>{3, 5}, {5, 3}, {2, 4}}) {
    for (std::size_t m = 0; m < masks_of_any_size.size(); ++m) {
      const Mask& mask = masks_of_any_size[m];
      const Tensor weights = weights_under(mask, {3, 2, queries, keys}, m);
      CAPTURE(queries, keys, m);
      for (const Pattern pattern : all_patterns) {
        if (pattern == Pattern::fixed_offset || pattern == Pattern::induction) continue;
        CAPTURE(to_string(pattern));
        const auto expected = [&](const Place& at) {
          return by_hand(pattern, {weights, mask, at[0], at[1]});
        };
        CHECK(difference(pattern_score(pattern, weights, mask), {3, 2}, tabulate({3, 2}, expected),
                         nearly_equal) == "");
      }
      const Shape by_row{3, 2, queries};
      const auto distance = [&, n = keys](const Place& at) {
        double sum = 0;
        for (Index j = 0; j < n; ++j) {
          sum += element(weights, {at[0], at[1], at[2], j}) * std::abs(double(at[2] - j));
        }
        return sum;
      };
      CHECK(difference(attention_distance(weights), by_row, tabulate(by_row, distance),
                       nearly_equal) == "");
      const auto best = [&](const Place& at) {
        return static_cast<double>(best_by_hand(weights, mask, at[0]).first);
      };
      CHECK(difference(best_offset(weights, mask), {2}, tabulate({2}, best)) == "");
      const auto at_best = [&](const Place& at) {
        const Index offset = best_by_hand(weights, mask, at[1]).first;
        return offset == 0
                   ? 0
                   : on_key({weights, mask, at[0], at[1]}, [&](Index i) { return i + offset; });
      };
      CHECK(difference(pattern_score(Pattern::fixed_offset, weights, mask), {3, 2},
                       tabulate({3, 2}, at_best), nearly_equal) == "");
    }
  }
}

TEST_CASE("the best offset is one for all sentences of a head", "[phase3][analysis]") {
  const Shape by_head{3, 2};
  for (std::size_t number = 0; number < 10 * masks.size(); ++number) {
    CAPTURE(number);
    const Mask& mask = masks[number % masks.size()];
    const Tensor weights = weights_under(mask, batch_shape, number + 9);
    const Tensor scores = pattern_score(Pattern::fixed_offset, weights, mask);
    for (Index head = 0; head < 2; ++head) {
      const Index best = best_by_hand(weights, mask, head).first;
      CHECK(best_offset(weights, mask).at({head}) == static_cast<real>(best));
      for (Index b = 0; b < 3; ++b) {
        const double expected = on_key({weights, mask, b, head}, [&](Index i) { return i + best; });
        CHECK(same_number(double{scores.at({b, head})}, best == 0 ? 0 : expected, nearly_equal));
      }
    }
  }
}

TEST_CASE("of equal offsets the first is the best, and the farthest may be", "[phase3][analysis]") {
  CHECK(best_offset(uniform_attention({5, 5})).item() == -2);
  CHECK(best_offset(Tensor::eye(5)).item() == -2);  // all have no weight
  const Mask last = Mask::from(MaskEncoding::keep, Tensor({3, 3}, {1, 0, 0, 0, 1, 0, 1, 1, 1}));
  CHECK(best_offset(Tensor({3, 3}, {1, 0, 0, 0, 1, 0, .8, .1, .1}), last).item() == -2);
  CHECK(best_offset(Tensor::eye(5), Mask::local(0)).item() == 0);  // no row has a choice
  CHECK(best_offset(Tensor::ones({3, 5})).shape() == Shape{});
  CHECK(best_offset(Tensor::ones({1, 3, 5})).shape() == Shape{1});
}

TEST_CASE("an offset is as good as in the sentences that have it", "[phase3][analysis]") {
  Tensor weights = Tensor::zeros({2, 1, 6, 6}), keep = Tensor::zeros({2, 6, 6});
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) keep.set({0, i, j}, 1);
    if (i >= 2) weights.set({0, 0, i, i - 2}, 0.5);
    if (i < 4) weights.set({0, 0, i, i + 2}, 0.4);
  }
  for (Index i = 0; i < 2; ++i) {  // the second sentence has two rows, and only the other offset
    keep.set({1, i, i}, 1), keep.set({1, i, i + 2}, 1);
    weights.set({1, 0, i, i + 2}, 0.4);
  }
  CHECK(best_offset(weights, Mask::from(MaskEncoding::keep, keep)).item() == -2);
}

TEST_CASE("induction keys are of each sentence alone", "[phase3][analysis]") {
  CHECK(induction_keys(Indices({2, 1}, {3, 3})).values == std::vector<std::int32_t>{-1, -1});
  CHECK(induction_keys(Indices({2, 3}, {3, 3, 4, 4, 3, 4})).values ==
        std::vector<std::int32_t>{-1, 1, -1, -1, -1, 1});
}

TEST_CASE("weight on keys of one's own choice, in each sentence", "[phase3][analysis]") {
  const Tensor weights = weights_under(Mask::causal(), {2, 3, 4, 4});
  const Indices keys({2, 4}, {0, -1, 0, 3, 0, 1, 3, 1});  // 3 for query 2 is hidden
  const auto expected = [&](const Place& at) {
    const auto on = [&](Index i, Index j) { return element(weights, {at[0], at[1], i, j}); };
    return at[0] == 0 ? (on(2, 0) + on(3, 3)) / 2 : (on(1, 1) + on(3, 1)) / 2;
  };
  CHECK(difference(weight_on(weights, keys, Mask::causal()), {2, 3}, tabulate({2, 3}, expected),
                   nearly_equal) == "");
  const Tensor one_head = squeeze(slice(weights, 1, 2, 3), 1);  // (batch, queries, keys)
  CHECK(difference_to(weight_on(one_head, keys, Mask::causal()),
                      squeeze(slice(weight_on(weights, keys, Mask::causal()), 1, 2, 3), 1),
                      nearly_equal) == "");
  const Indices none({4}, {-1, -1, -1, -1});
  CHECK(max(weight_on(weights, none)).item() == 0);
  CHECK(difference_to(weight_on(weights, Indices({4}, {-1, 0, 1, 2})),
                      pattern_score(Pattern::previous, weights)) == "");
}
