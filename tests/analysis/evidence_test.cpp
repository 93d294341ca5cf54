// Means over sentences, baselines, and when a head gets a name.
#include "tapestry/analysis/evidence.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

constexpr double nearly_equal = in_double ? 1e-12 : 3e-6;
constexpr Index sentences = 20, length = 8;
const Mask causal = Mask::causal();

// Heads that look at key i - 1, i - 3, everywhere alike, at one key that nothing tells, and at the
// key after the last earlier place of the word; with noise. `strength` 0 makes all of them random.
Attended heads(double strength, std::uint64_t seed) {
  Random random(seed);
  Tensor scores = random.normal({sentences, 5, length, length}, 0, 0.3);
  Indices ids({sentences, length}, std::vector<std::int32_t>(sentences * length));
  for (std::int32_t& id : ids.values) id = static_cast<std::int32_t>(random.randint(5));
  const auto raise = [&](Index b, Index head, Index i, Index j) {
    if (j >= 0) scores.set({b, head, i, j}, strength);
  };
  for (Index b = 0; b < sentences; ++b) {
    for (Index i = 0; i < length; ++i) {
      raise(b, 0, i, i - 1);
      raise(b, 1, i, i - 3);
      raise(b, 3, i, random.randint(i + 1));
      for (Index j = i; j > 0; --j) {
        const auto id = [&](Index at) { return ids.values[std::size_t(b * length + at)]; };
        if (id(j - 1) != id(i)) continue;
        raise(b, 4, i, j);
        break;
      }
    }
  }
  const Tensor hidden = where(causal.tensor({length, length}), scores, -infinity);
  return {softmax(hidden), causal, ids};
}

const Evidence& find(const std::vector<Evidence>& list, Pattern pattern) {
  for (const Evidence& one : list) {
    if (one.pattern == pattern) return one;
  }
  throw Error("not found");
}

double mean_score(Pattern pattern, const Attended& seen, Index head) {
  const Tensor scores = pattern_score(pattern, seen.weights, seen.mask);
  double sum = 0;
  for (Index b = 0; b < sentences; ++b) sum += element(scores, {b, head}) / sentences;
  return sum;
}

}  // namespace

TEST_CASE("mean and deviation of a sample", "[phase3][analysis]") {
  const Spread four = spread(Tensor({2, 2}, {1, 2, 4, 9}));
  CHECK(four.count == 4);
  CHECK(same_number(four.mean, 4, nearly_equal));
  CHECK(same_number(four.deviation, std::sqrt((9 + 4 + 0 + 25) / 3.), nearly_equal));
  CHECK(same_number(spread(Tensor({2}, {1, 3})).deviation, std::sqrt(2.), nearly_equal));
  CHECK(spread(Tensor(7)).mean == 7);
  CHECK(spread(Tensor(7)).deviation == 0);
  CHECK(std::isnan(spread(Tensor::zeros({0, 3})).mean));
  CHECK(spread(Tensor::zeros({0, 3})).count == 0);
  CHECK(std::isnan(spread(Tensor::full({2}, infinity) * 0).mean));
}

TEST_CASE("a name takes the margin above every baseline, and little noise", "[phase3][analysis]") {
  const Spread high{0.8, 0.1, 100}, low{0.3, 0.1, 100}, near{0.65, 0.1, 100};
  CHECK(may_be_named(high, {low}));
  CHECK(may_be_named(high, {low, low}));
  CHECK_FALSE(may_be_named(high, {low, near}));  // one is too close
  CHECK_FALSE(may_be_named(low, {high}));
  CHECK(may_be_named(high, {near}, 0.1));
  CHECK(may_be_named(high, {low}, 0.5));
  CHECK_FALSE(may_be_named(high, {low}, 0.51));
  CHECK(
      may_be_named({0.5, 0, 1}, {{0.5, 0, 1}}, 0));  // just as much is enough, if nothing is asked
  // 0.5 apart, but with errors of 0.3 each the difference is no two of its own errors, 0.42.
  const Spread few{0.8, 0.6, 4}, others{0.3, 0.6, 4};
  CHECK_FALSE(may_be_named(few, {others}));
  CHECK(may_be_named(few, {{0.1, 0, 4}}));  // 0.7 apart, error 0.3
  const Spread nan{std::numeric_limits<double>::quiet_NaN(), 0, 0};
  CHECK_FALSE(may_be_named(nan, {low}));
  CHECK_FALSE(may_be_named(high, {low, nan}));
  CHECK(complaint([&] { may_be_named(high, {}); }, {"there is no baseline", "untrained"}) == "");
}

TEST_CASE("heads with a pattern get its name, the others none", "[phase3][analysis]") {
  const auto evidence = pattern_evidence(heads(6, 1), heads(0, 2), heads(6, 3));
  REQUIRE(evidence.size() == 5);
  CHECK(head_name(evidence[0]) == "previous word");
  CHECK(head_name(evidence[1]) == "fixed offset -3");
  CHECK(head_name(evidence[2]) == "none");  // what is uniform without training is nothing new
  CHECK(head_name(evidence[3]) == "sparse");
  CHECK(head_name(evidence[4]) == "induction");
  CHECK(head_name(evidence[0], 1) == "none");
  for (const std::vector<Evidence>& head :
       pattern_evidence(heads(0, 4), heads(0, 2), heads(0, 3))) {
    CHECK(head_name(head) == "none");
  }
  CHECK(head_name({}) == "none");
}

TEST_CASE("evidence is the scores of all sentences, for each of the three", "[phase3][analysis]") {
  const Attended model = heads(2, 1), untrained = heads(0, 2), shuffled = heads(1, 3);
  const auto evidence = pattern_evidence(model, untrained, shuffled);
  for (const Pattern pattern : all_patterns) {
    if (pattern == Pattern::induction || pattern == Pattern::next) continue;
    CAPTURE(to_string(pattern));
    for (Index head = 0; head < 5; ++head) {
      const Evidence& one = find(evidence[std::size_t(head)], pattern);
      CHECK(same_number(one.score.mean, mean_score(pattern, model, head), nearly_equal));
      CHECK(same_number(one.untrained.mean, mean_score(pattern, untrained, head), nearly_equal));
      CHECK(same_number(one.shuffled.mean, mean_score(pattern, shuffled, head), nearly_equal));
      const Tensor even = uniform_attention({length, length}, causal);
      const Tensor null = pattern == Pattern::fixed_offset
                              ? weight_on(even, keys_at(one.offset, even.shape()), causal)
                              : pattern_score(pattern, even, causal);
      CHECK(same_number(one.uniform, double{null.item()}, nearly_equal));
      CHECK(one.score.count == sentences);
      CHECK(one.offset == (pattern == Pattern::fixed_offset
                               ? static_cast<Index>(best_offset(model.weights, causal).at({head}))
                               : 0));
    }
  }
  const Evidence& next = find(evidence[0], Pattern::next);  // nobody may see the next word
  CHECK(next.score.count == 0);
  CHECK(next.holds == 0);
  CHECK(std::isnan(next.score.mean));
}

TEST_CASE("for induction only sentences with a repeated word count", "[phase3][analysis]") {
  Attended seen = heads(3, 1);
  for (Index at = 0; at < 5 * length; ++at) {  // five sentences of different words
    seen.ids.values[std::size_t(at)] = static_cast<std::int32_t>(at);
  }
  const auto evidence = pattern_evidence(seen, seen, seen);
  const Tensor scores = pattern_score(Pattern::induction, seen.weights, causal, seen.ids);
  for (Index head = 0; head < 5; ++head) {
    const Evidence& one = find(evidence[std::size_t(head)], Pattern::induction);
    double sum = 0;
    for (Index b = 5; b < sentences; ++b) sum += element(scores, {b, head}) / (sentences - 5);
    CHECK(one.score.count == sentences - 5);
    CHECK(same_number(one.score.mean, sum, nearly_equal));
  }
  seen.ids = {};
  CHECK(pattern_evidence(seen, seen, seen)[0].size() == all_patterns.size() - 1);
}

TEST_CASE("a sentence counts for a pattern if one of its rows can show it", "[phase3][analysis]") {
  // Only one row counts in each sentence: row b % length. Row 0 has no word before.
  Attended seen = heads(6, 1);
  Tensor keep = Tensor::zeros({sentences, length, length});
  for (Index b = 0; b < sentences; ++b) {
    for (Index j = 0; j < length; ++j) keep.set({b, b % length, j}, 1);
  }
  seen.mask = Mask::from(MaskEncoding::keep, keep);
  const auto evidence = pattern_evidence(seen, seen, seen);
  const Evidence& previous = find(evidence[0], Pattern::previous);
  const Evidence& third = find(evidence[1], Pattern::fixed_offset);
  CHECK(previous.score.count == 17);  // without sentences 0, 8 and 16
  CHECK(previous.score.mean > 0.9);
  CHECK(same_number(previous.uniform, 1. / length, nearly_equal));
  CHECK(third.offset == -3);
  CHECK(third.score.count == 11);  // rows 3 to 7 twice, and row 3 once more
  CHECK(third.score.mean > 0.9);
  CHECK(find(evidence[0], Pattern::sparse).score.count == sentences);
}

TEST_CASE("a name takes half of the weight, too", "[phase3][analysis]") {
  Evidence one;
  one.pattern = Pattern::previous;
  one.untrained = {0.1, 0, 100};
  one.uniform = 0.1;
  one.holds = 1;
  one.score = {0.45, 0, 100};
  CHECK(head_name({one}) == "none");
  one.score.mean = 0.5;
  CHECK(head_name({one}) == "previous word");
  one.uniform = 0.4;  // there are few keys
  CHECK(head_name({one}) == "none");
}

TEST_CASE("of two patterns that fit, the one with more weight names the head",
          "[phase3][analysis]") {
  Evidence more{.pattern = Pattern::previous, .score = {0.9, 0, 100}, .holds = 1};
  more.untrained = {0.1, 0, 100};
  more.uniform = 0.1;
  Evidence less = more;
  less.pattern = Pattern::first;
  less.score.mean = 0.8;
  CHECK(head_name({more, less}) == "previous word");
  CHECK(head_name({less, more}) == "previous word");
  less.score.mean = more.score.mean;
  CHECK(head_name({less, more}) == "first word");  // of equals the first
  CHECK(head_name({more, less}) == "previous word");
}

TEST_CASE("a mean of all and nothing gives no name", "[phase3][analysis]") {
  Evidence one{.pattern = Pattern::previous, .score = {0.7, 0.45, 1000}, .holds = 0.74};
  one.untrained = {0.1, 0, 100};
  one.uniform = 0.1;
  CHECK(head_name({one}) == "none");
  one.holds = 0.75;
  CHECK(head_name({one}) == "previous word");
  // Half of the sentences follow the pattern wholly, the others not at all.
  const Attended high = heads(6, 1), none = heads(0, 2);
  Attended both = high;
  both.weights = concat({slice(high.weights, 0, 0, 10), slice(none.weights, 0, 10, 20)}, 0);
  const auto evidence = pattern_evidence(both, none, high);
  CHECK(find(evidence[0], Pattern::previous).holds == 0.5);
  CHECK(head_name(evidence[0]) == "none");
}

TEST_CASE("induction is a name only for a head that goes by the letter", "[phase3][analysis]") {
  Evidence one{.pattern = Pattern::induction, .score = {0.9, 0.1, 100}, .holds = 1};
  one.untrained = {0.1, 0, 100};
  one.uniform = 0.1;
  CHECK(head_name({one}) == "none");  // no row in which place and letter disagree
  one.letter = {0.8, 0.1, 100}, one.place = {0.1, 0.1, 100};
  CHECK(head_name({one}) == "induction");
  std::swap(one.letter, one.place);
  CHECK(head_name({one}) == "by place");
  one.letter = {0.4, 0.1, 100}, one.place = {0.5, 0.1, 100};
  CHECK(head_name({one}) == "none");
}

TEST_CASE("place and letter, where they disagree", "[phase3][analysis]") {
  // Read as 5 6 7 5 6 and, mixed, as 7 5 6 5 6. The second 5 is followed by 6: key 1 by place,
  // key 2 by letter; the second 6 by 7 (key 2) and by 5 (key 3).
  const Indices before({1, 5}, {5, 6, 7, 5, 6}), mixed({1, 5}, {7, 5, 6, 5, 6});
  Tensor by_place = uniform_attention({1, 2, 5, 5}, causal).clone();
  const auto look = [&](Index head, Index query, Index key) {
    for (Index j = 0; j < 5; ++j) by_place.set({0, head, query, j}, j == key ? 1 : 0);
  };
  look(0, 3, 1), look(0, 4, 2), look(1, 3, 2), look(1, 4, 3);
  const Attended text{uniform_attention({1, 2, 5, 5}, causal), causal, before};
  const auto evidence = pattern_evidence(text, text, {by_place, causal, mixed});
  const Evidence &place = evidence[0][5], &letter = evidence[1][5];
  REQUIRE(place.pattern == Pattern::induction);
  CHECK(place.place.mean == 1);
  CHECK(place.letter.mean == 0);
  CHECK(letter.place.mean == 0);
  CHECK(letter.letter.mean == 1);
  CHECK(evidence[0][7].holds == 0);  // of one sentence
  CHECK(evidence[0][6].holds == 1);
  CHECK(pattern_evidence(text, text, text)[0][5].letter.count == 0);  // the same order
}

TEST_CASE("no sentences, NaN, and weights that do not fit", "[phase3][analysis]") {
  const Attended none{Tensor::zeros({0, 2, 4, 4}), causal, Indices({0, 4}, {})};
  const auto evidence = pattern_evidence(none, none, none);
  REQUIRE(evidence.size() == 2);
  CHECK(head_name(evidence[1]) == "none");
  const Attended seen = heads(3, 1);
  const Attended broken{seen.weights * Tensor(infinity) * 0, causal, seen.ids};
  CHECK(head_name(pattern_evidence(broken, seen, seen)[0]) == "none");
  CHECK(head_name(pattern_evidence(seen, broken, seen)[0]) == "none");
  const Attended flat{Tensor::zeros({2, 4, 4}), {}, {}}, two{Tensor::zeros({3, 2, 4, 4}), {}, {}};
  CHECK(complaint([&] { pattern_evidence(flat, flat, flat); },
                  {"weights are (2, 4, 4)", "(sentences, heads, queries, keys)"}) == "");
  CHECK(complaint([&] { pattern_evidence(seen, two, seen); },
                  {"untrained (3, 2, 4, 4)", "equally many heads"}) == "");
  CHECK(complaint([&] { pattern_evidence(seen, seen, {seen.weights, causal, {}}); },
                  {"ids are (20, 8), shuffled ()", "the same shape"}) == "");
}
