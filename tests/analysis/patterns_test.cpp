// Entropy, evenness, distance and the detectors of patterns: against plain loops, and for weights
// whose pattern is known.
#include "tapestry/analysis/patterns.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr double nearly_equal = in_double ? 1e-12 : 2e-6;

// Weights as softmax makes them, with zeros where the mask hides; one key stands out.
Tensor weights_under(const Mask& mask, const Shape& shape, std::uint64_t seed = 1) {
  const Tensor scores = random_tensor(shape, seed) * 2;
  return softmax(where(mask.tensor(shape), scores, -infinity));
}

const Mask half_hidden = Mask::from(MaskEncoding::keep, Tensor({5, 5}, {1, 0, 0, 0, 0,  //
                                                                        0, 0, 0, 0, 0,  //
                                                                        1, 1, 0, 0, 1,  //
                                                                        0, 1, 1, 1, 0,  //
                                                                        1, 1, 1, 1, 1}));

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

Tensor on(Index length, Index offset) {  // all weight on key i + offset; else on key 0
  Tensor result = Tensor::zeros({1, length, length});
  for (Index i = 0; i < length; ++i) {
    result.set({0, i, i + offset >= 0 && i + offset < length ? i + offset : 0}, 1);
  }
  return result;
}

double score(Pattern pattern, const Tensor& weights, const Mask& mask = {},
             const Indices& ids = {}) {
  return double{pattern_score(pattern, weights, mask, ids).item()};
}

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
    CHECK(difference(attention_evenness(weights, mask), by_row, tabulate(by_row, evenness),
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

TEST_CASE("the best offset is one for all sentences of a head", "[phase3][analysis]") {
  const Shape by_head{3, 2};
  for (std::size_t m = 0; m < masks.size(); ++m) {
    CAPTURE(m);
    const Tensor weights = weights_under(masks[m], batch_shape, m + 9);
    const Tensor scores = pattern_score(Pattern::fixed_offset, weights, masks[m]);
    for (Index head = 0; head < 2; ++head) {
      double greatest = 0;
      Index best = 0;
      for (const Index offset : {-4, -3, -2, 2, 3, 4}) {
        int seen = 0, rows = 0;
        double mean = 0;
        for (Index b = 0; b < 3; ++b) {
          const Rows one{weights, masks[m], b, head};
          for (Index i = 0; i < 5; ++i) rows += one.visible(i) >= 2;
          for (Index i = 0; i < 5; ++i) seen += one.visible(i) >= 2 && one.sees(i, i + offset);
          mean += on_key(one, [&](Index i) { return i + offset; }) / 3;
        }
        if (2 * seen >= rows && mean > greatest) greatest = mean, best = offset;
      }
      CHECK(best_offset(weights, masks[m]).at({head}) == static_cast<real>(best));
      for (Index b = 0; b < 3; ++b) {
        const double expected =
            on_key({weights, masks[m], b, head}, [&](Index i) { return i + best; });
        CHECK(same_number(double{scores.at({b, head})}, best == 0 ? 0 : expected, nearly_equal));
      }
    }
  }
}

TEST_CASE("a head that follows a pattern wholly scores 1", "[phase3][analysis]") {
  CHECK(score(Pattern::self, on(6, 0)) == 1);
  CHECK(score(Pattern::self, on(6, 0), Mask::causal()) == 1);
  CHECK(score(Pattern::previous, on(6, -1)) == 1);
  CHECK(score(Pattern::previous, on(6, -1), Mask::causal()) == 1);
  CHECK(score(Pattern::next, on(6, 1)) == 1);
  CHECK(score(Pattern::first, on(6, -9)) == 1);
  CHECK(score(Pattern::sparse, on(6, -2)) == 1);
  CHECK(same_number(score(Pattern::uniform, uniform_attention({1, 6, 6})), 1, nearly_equal));
  CHECK(score(Pattern::fixed_offset, on(8, -3), Mask::causal()) == 1);
  CHECK(best_offset(on(8, -3), Mask::causal()).item() == -3);
  CHECK(best_offset(on(8, 2)).item() == 2);
  CHECK(best_offset(on(8, -1)).item() != -1);  // that has a detector of its own
  // a b c a b c: after the second a, b and c it looks at the b, c and a that follow the first.
  CHECK(score(Pattern::induction, on(6, -2), Mask::causal(), Indices({6}, {5, 6, 7, 5, 6, 7})) ==
        1);
}

TEST_CASE("and 0 in the patterns that it does not follow at all", "[phase3][analysis]") {
  CHECK(score(Pattern::previous, on(6, 0)) == 0);
  CHECK(score(Pattern::next, on(6, -1)) == 0);
  CHECK(score(Pattern::uniform, on(6, -1)) == 0);
  CHECK(same_number(score(Pattern::sparse, uniform_attention({1, 6, 6})), 0, nearly_equal));
  CHECK(score(Pattern::next, on(6, -1), Mask::causal()) == 0);  // nobody may see the next word
  const Indices different({6}, {1, 2, 3, 4, 5, 6});
  CHECK(score(Pattern::induction, on(6, -2), Mask::causal(), different) == 0);
}

TEST_CASE("what uniform attention scores is one over the keys in sight", "[phase3][analysis]") {
  const Mask causal = Mask::causal();
  const Tensor open = uniform_attention({2, 4, 4}), past = uniform_attention({1, 4, 4}, causal);
  CHECK(difference(open, {2, 4, 4}, std::vector<double>(32, 0.25)) == "");
  CHECK(difference(past, {1, 4, 4},
                   {1, 0, 0, 0, 0.5, 0.5, 0, 0, 1 / 3., 1 / 3., 1 / 3., 0, .25, .25, .25, .25}) ==
        "");
  const double mean = (1 / 2. + 1 / 3. + 1 / 4.) / 3;  // row 0 has no choice
  for (const Pattern pattern : {Pattern::self, Pattern::previous, Pattern::first}) {
    CHECK(same_number(score(pattern, past, causal), mean, nearly_equal));
  }
  CHECK(
      same_number(score(Pattern::fixed_offset, past, causal), (1 / 3. + 1 / 4.) / 2, nearly_equal));
  CHECK(difference(uniform_attention({3, 2, 1, 4}, Mask::padding({4, 2, 0})), {3, 2, 1, 4},
                   {.25, .25, .25, .25, .25, .25, .25, .25, .5, .5, 0, 0, .5, .5, 0, 0,  //
                    0,   0,   0,   0,   0,   0,   0,   0}) == "");
}

TEST_CASE("rows that nothing may be seen by, or one key, do not count", "[phase3][analysis]") {
  CHECK(difference(rows_that_count({2, 5, 5}, Mask::causal()), {5}, {0, 1, 1, 1, 1}) == "");
  CHECK(difference(rows_that_count({2, 5, 5}, half_hidden), {5}, {0, 0, 1, 1, 1}) == "");
  const Tensor rows({2, 3}, {1, 5, 9, 2, 4, 7});
  CHECK(difference(mean_of_rows(rows, Tensor({3}, {0, 1, 1})), {2}, {7, 5.5}) == "");
  CHECK(difference(mean_of_rows(rows, Tensor::zeros({3})), {2}, {0, 0}) == "");
  const Tensor zeros = Tensor::zeros({2, 3, 3});
  CHECK(max(attention_entropy(zeros)).item() == 0);
  CHECK(max(attention_distance(zeros)).item() == 0);
  const Mask nothing = Mask::from(MaskEncoding::keep, Tensor::zeros({3, 3}));
  for (const Pattern pattern : all_patterns) {
    CHECK(max(pattern_score(pattern, zeros, nothing, Indices({3}, {1, 1, 1}))).item() == 0);
  }
}

TEST_CASE("one word, no word, and more queries than keys", "[phase3][analysis]") {
  for (const Pattern pattern : all_patterns) {
    CAPTURE(to_string(pattern));
    CHECK(score(pattern, Tensor::ones({1, 1, 1}), {}, Indices({1}, {3})) == 0);
    CHECK(pattern_score(pattern, Tensor::zeros({2, 0, 0}), {}, Indices({0}, {})).shape() ==
          Shape{2});
    if (pattern == Pattern::induction) continue;
    CHECK(pattern_score(pattern, random_between({2, 5, 3}, 0, 1)).shape() == Shape{2});
    CHECK(pattern_score(pattern, random_between({3, 5}, 0, 1)).shape() == Shape{});
    CHECK(pattern_score(pattern, Tensor::zeros({0, 2, 3, 3})).shape() == Shape{0, 2});
  }
  CHECK(best_offset(Tensor::ones({1, 1, 1})).item() == 0);
}

TEST_CASE("strided weights give what their copies give", "[phase3][analysis]") {
  const Tensor weights = transpose(weights_under({}, {2, 5, 5}));
  for (const Pattern pattern : all_patterns) {
    const Indices ids({5}, {1, 1, 2, 1, 2});
    CHECK(difference_to(pattern_score(pattern, weights, {}, ids),
                        pattern_score(pattern, weights.clone(), {}, ids)) == "");
  }
  CHECK(difference_to(attention_entropy(weights), attention_entropy(weights.clone())) == "");
}

TEST_CASE("NaN in a head shows in every score of that head alone", "[phase3][analysis]") {
  const Tensor nan = Tensor::full({1, 5, 5}, std::numeric_limits<double>::quiet_NaN());
  const Tensor weights = concat({nan, weights_under({}, {1, 5, 5})}, 0);
  for (const Pattern pattern : all_patterns) {
    CAPTURE(to_string(pattern));
    const Tensor scores = pattern_score(pattern, weights, {}, Indices({5}, {1, 1, 2, 1, 2}));
    CHECK(std::isnan(scores.at({0})));
    CHECK(std::isfinite(scores.at({1})));
  }
  CHECK(std::isnan(attention_distance(weights).at({0, 2})));
  CHECK(std::isnan(attention_evenness(weights).at({0, 2})));
}

TEST_CASE("padding among the queries is left out by the mask", "[phase3][analysis]") {
  Tensor seen = Tensor::ones({2, 4, 4});
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) seen.set({1, i, j}, i < 3 && j < 3);  // the second has 3 words
  }
  const Mask mask = Mask::from(MaskEncoding::keep, seen);
  const Tensor weights = weights_under(Mask::padding({4, 3}), {2, 1, 4, 4});
  const Tensor three = slice(slice(slice(weights, 0, 1, 2), 2, 0, 3), 3, 0, 3);
  for (const Pattern pattern : {Pattern::self, Pattern::previous, Pattern::uniform}) {
    CHECK(difference_to(slice(pattern_score(pattern, weights, mask), 0, 1, 2),
                        pattern_score(pattern, three), nearly_equal) == "");
  }
}

TEST_CASE("errors of detectors name what does not fit", "[phase3][analysis]") {
  const Tensor weights = uniform_attention({2, 3, 4, 4});
  CHECK(complaint([] { attention_entropy(Tensor::ones({3})); },
                  {"weights are (3)", "must be (..., queries, keys)"}) == "");
  CHECK(complaint([] { pattern_score(Pattern::self, Tensor(1)); }, {"weights are ()"}) == "");
  CHECK(complaint([&] { pattern_score(Pattern::self, weights, Mask::padding({1, 2, 3})); },
                  {"mask"}) == "");
  CHECK(complaint([&] { pattern_score(Pattern::induction, weights); },
                  {"induction: weights are (2, 3, 4, 4), ids are ()"}) == "");
  CHECK(complaint([&] { pattern_score(Pattern::induction, weights, {}, Indices({3}, {1, 2, 3})); },
                  {"ids are (3)", "an id for each key"}) == "");
  const Indices three({3, 4}, std::vector<std::int32_t>(12, 1));
  CHECK(complaint([&] { pattern_score(Pattern::induction, weights, {}, three); },
                  {"ids are (3, 4)", "(batch, keys)"}) == "");
}
