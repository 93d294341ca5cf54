// Detectors of patterns where the answer is known: perfect patterns, uniform attention, nothing to
// see, one word, NaN, and what is refused.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/weights.hpp"
#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

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
  CHECK(best_offset(on(5, -3), Mask::causal()).item() == -3);  // half of the rows may look there
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

TEST_CASE("what uniform attention scores is one over the visible keys", "[phase3][analysis]") {
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
    CHECK(max(pattern_score(pattern, Tensor::zeros({2, 3, 0}))).item() == 0);  // no keys
  }
  CHECK(best_offset(Tensor::ones({1, 1, 1})).item() == 0);
}

TEST_CASE("weights on more keys than a mask shows are as even as can be", "[phase3][analysis]") {
  const Tensor even = uniform_attention({3, 3});
  CHECK(difference(normalized_entropy(even, Mask::causal()), {3}, {0, 1, 1}, nearly_equal) == "");
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
  CHECK(std::isnan(normalized_entropy(weights).at({0, 2})));
}

TEST_CASE("the best offset is the first with NaN", "[phase3][analysis]") {
  for (const Index offset : {-3, -2, 2, 3}) {
    Tensor weights = Tensor::full({6, 6}, 1.0 / 6);
    const auto spoil = [&](Index at) {
      const Index query = std::max<Index>(0, -at);
      weights.set({query, query + at}, std::numeric_limits<double>::quiet_NaN());
    };
    spoil(offset);
    CAPTURE(offset);
    CHECK(best_offset(weights).item() == static_cast<real>(offset));
    CHECK(std::isnan(pattern_score(Pattern::fixed_offset, weights).item()));
    spoil(3);
    CHECK(best_offset(weights).item() == static_cast<real>(offset));
  }
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
  for (const Pattern pattern : all_patterns) {
    CHECK(complaint([=] { pattern_score(pattern, Tensor::ones({3}), {}, Indices({1}, {0})); },
                    {"attention pattern: weights are (3)"}) == "");
  }
  CHECK(complaint([&] { pattern_score(Pattern::self, weights, Mask::padding({1, 2, 3})); },
                  {"mask"}) == "");
  CHECK(complaint([&] { pattern_score(Pattern::induction, weights); },
                  {"induction: weights are (2, 3, 4, 4), () were given"}) == "");
  CHECK(complaint([&] { pattern_score(Pattern::induction, weights, {}, Indices({3}, {1, 2, 3})); },
                  {"(3) were given", "one for each query"}) == "");
  const Indices three({3, 4}, std::vector<std::int32_t>(12, 1));
  CHECK(complaint([&] { pattern_score(Pattern::induction, weights, {}, three); },
                  {"(3, 4) were given", "(batch, queries)"}) == "");
  Indices broken({4}, {0, 1, 2, 3});
  broken.values.pop_back();
  CHECK(complaint([&] { weight_on(weights, broken); }, {"weight_on: "}) == "");
  const Indices nine({3, 3}, {0, 1, 2, 0, 1, 2, 0, 1, 2});
  CHECK(complaint([&] { weight_on(Tensor::ones({3, 3}), nine); }, {"(3, 3) were given"}) == "");
  CHECK(complaint([] { weight_on(Tensor::ones({3}), Indices({1}, {0})); },
                  {"attention pattern: weights are (3)"}) == "");
  for (const auto& f : std::vector<std::function<void()>>{
           [] { normalized_entropy(Tensor::ones({3})); }, [] { best_offset(Tensor::ones({3})); },
           [] { rows_that_count({3}); }, [] { attention_distance(Tensor::ones({3})); },
           [] { uniform_attention({3}); }}) {
    CHECK(complaint(f, {"attention pattern: weights are (3)"}) == "");
  }
  CHECK(complaint([] { keys_at(1, {3}); }, {"attention pattern: weights are (3)"}) == "");
  CHECK(complaint([&] { weight_on(weights, Indices({4}, {0, 1, 4, 3})); },
                  {"weight_on: there is no key 4; there are 4, from 0."}) == "");
  CHECK(complaint([&] { weight_on(slice(weights, -2, 0, 3), Indices({3}, {0, 7, 2})); },
                  {"there is no key 7; there are 4, from 0."}) == "");
}
