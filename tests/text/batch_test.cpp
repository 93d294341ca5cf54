#include "tapestry/text/batch.hpp"

#include <array>
#include <cmath>

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

using Ids = std::vector<std::int32_t>;

TEST_CASE("texts of different lengths become inputs, shifted targets and lengths",
          "[phase2][text]") {
  const Vocabulary vocabulary({"a", "b"});  // 5 and 6
  const Batch batch = next_word_batch(vocabulary, {{"a", "b", "a"}, {}, {"b"}});
  CHECK(batch.inputs.shape == Shape{3, 4});
  CHECK(batch.targets.shape == Shape{3, 4});
  CHECK(batch.inputs.values == Ids{1, 5, 6, 5, 1, 0, 0, 0, 1, 6, 0, 0});
  CHECK(batch.targets.values == Ids{5, 6, 5, 2, 2, -1, -1, -1, 6, 2, -1, -1});
  CHECK(batch.lengths == std::vector<Index>{4, 1, 2});
  const Mask mask = Mask::padding(batch.lengths);
  CHECK(mask.allows(2, 0, 1));
  CHECK_FALSE(mask.allows(2, 0, 2));
  CHECK(next_word_batch(vocabulary, {}).inputs.shape == Shape{0, 0});
  CHECK(complaint([&] { next_word_batch(vocabulary, {{"c"}}); }, {"'c' is not one of"}) == "");
}

TEST_CASE("one word of each text is hidden, every place as often as the others, and is to be said",
          "[phase2][text]") {
  const Vocabulary vocabulary({"a", "b", "c"});  // 5, 6, 7
  const std::vector<Words> texts(3000, {"a", "b", "c"});
  Random random(1);
  const Batch batch = masked_lm_batch(vocabulary, texts, random);
  REQUIRE(batch.inputs.shape == Shape{3000, 3});
  REQUIRE(batch.targets.shape == batch.inputs.shape);
  std::array<int, 3> hidden{};
  bool whole = true;  // hidden or seen, the word is the text's, and only the hidden one is asked
  for (std::size_t at = 0; at < batch.inputs.values.size(); ++at) {
    const auto word = static_cast<std::int32_t>(5 + at % 3);
    const bool here = batch.inputs.values[at] == Vocabulary::mask;
    whole &= here ? batch.targets.values[at] == word
                  : batch.inputs.values[at] == word && batch.targets.values[at] == -1;
    hidden[at % 3] += here;
  }
  CHECK(whole);
  CHECK(hidden[0] + hidden[1] + hidden[2] == 3000);
  for (const int count : hidden) CHECK(std::abs(count - 1000) < 130);  // five deviations
  CHECK(masked_lm_batch(vocabulary, {}, random).inputs.shape == Shape{0, 0});

  const Batch short_one = masked_lm_batch(vocabulary, {{"a", "b", "c"}, {"a"}}, random);
  CHECK(short_one.lengths == std::vector<Index>{3, 1});
  CHECK(short_one.inputs.values[3] == Vocabulary::mask);
  CHECK(short_one.targets.values[3] == 5);
  CHECK(short_one.targets.values[4] == -1);
  CHECK(complaint([&] { masked_lm_batch(vocabulary, {{"a"}, {}}, random); },
                  {"hidden words: text 1 has no words"}) == "");
}

TEST_CASE("a row is right when every position that was asked is", "[phase2][text]") {
  const Indices targets({4, 2}, {0, 1, 2, -1, -1, -1, 1, 1});
  const Tensor logits({4, 2, 3}, {3, 1, 2, 0, 5, 4,    // 0, 1: right
                                  0, 1, 2, 9, 9, 9,    // 2: right, the other is not asked
                                  1, 2, 3, 1, 2, 3,    // nothing asked: does not count
                                  0, 1, 0, 1, 0, 0});  // 1, 0: wrong at the second
  CHECK(exact_matches(logits, targets) == 2);
  CHECK(exact_matches(logits, Indices({4, 2}, Ids(8, -1))) == 0);
  CHECK(exact_matches(Tensor::zeros({0, 2, 3}), Indices({0, 2}, {})) == 0);
  CHECK(exact_matches(transpose(Tensor({1, 3, 2}, {3, 0, 1, 5, 2, 4})), Indices({1, 2}, {0, 1})) ==
        1);
}

TEST_CASE("among equal logits the lowest id wins, and NaN is never right", "[phase2][text]") {
  const auto right = [](double a, double b, std::int32_t target) {
    return exact_matches(Tensor({1, 1, 2}, {a, b}), Indices({1, 1}, {target}));
  };
  const double nan = std::nan("");
  CHECK(right(1, 1, 0) == 1);
  CHECK(right(1, 1, 1) == 0);
  CHECK(right(-infinity, 0, 1) == 1);
  CHECK(right(-infinity, -infinity, 0) == 1);
  CHECK(right(nan, 1, 1) == 0);
  CHECK(right(nan, 1, 0) == 0);
  CHECK(right(1, nan, 0) == 0);
  CHECK(right(0, 0, 2) == 0);  // no such class
}

TEST_CASE("logits and targets that do not belong together are refused", "[phase2][text]") {
  CHECK(complaint([] { exact_matches(Tensor::zeros({2, 3, 4}), Indices({3, 2}, Ids(6))); },
                  {"exact_matches: logits are (2, 3, 4), targets are (3, 2)"}) == "");
  CHECK(complaint([] { exact_matches(Tensor::zeros({3, 4}), Indices({3}, Ids(3))); },
                  {"(rows, length, vocabulary)"}) == "");
  Indices lacking({1, 2}, {0, 0});
  lacking.values.pop_back();
  CHECK(complaint([&] { exact_matches(Tensor::zeros({1, 2, 3}), lacking); },
                  {"exact_matches: ", "(1, 2)"}) == "");
}
