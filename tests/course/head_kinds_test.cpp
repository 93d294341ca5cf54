// Texts that repeat, and the scores of steps 74 and 78, on weights that are known.
#include "course/head_kinds.hpp"

#include <set>

#include "catch.hpp"
#include "course/eight_stories.hpp"
#include "course/inside.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/byte_pairs.hpp"
#include "tapestry/text/vocabulary.hpp"

using namespace tapestry;

namespace {

constexpr Index piece = 4;
const std::vector<std::int32_t> tokens = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

Transformer small_model() {
  Random random(3);
  const TransformerOptions o{.vocab_size = 12, .max_length = 9, .d_model = 8, .num_heads = 2};
  return Transformer(o, random);
}

std::vector<std::int32_t> row_of(const Indices& ids, std::ptrdiff_t row) {
  return {ids.values.begin() + 9 * row, ids.values.begin() + 9 * (row + 1)};
}

// Passage i of the stories, whose first one begins behind the first byte of a story.
std::vector<std::int32_t> passage(std::size_t i) {
  return byte_pair_tokenizer({})
      .encode(std::string(stories[i / 3]).substr(1 + 48 * (i % 3), 48))
      .values;
}

// The first or the second passage of a text.
std::vector<std::int32_t> read(const Batch& batch, std::size_t row, std::size_t which) {
  const auto begin = batch.inputs.values.begin() + std::ptrdiff_t(97 * row + 1 + 48 * which);
  return {begin, begin + 48};
}

}  // namespace

TEST_CASE("random texts: a piece behind itself, and behind another", "[phase7][course]") {
  Random random(5);
  const TwoReadings texts = random_readings(1, tokens, 3, piece, random);
  for (std::ptrdiff_t row = 0; row < 3; ++row) {
    const auto again = row_of(texts.again.inputs, row), other = row_of(texts.other.inputs, row);
    CHECK(again[0] == 1);
    CHECK(other[0] == 1);
    CHECK(std::vector(again.begin() + 1, again.begin() + 5) ==
          std::vector(again.begin() + 5, again.end()));
    CHECK(std::vector(other.begin() + 5, other.end()) ==
          std::vector(again.begin() + 5, again.end()));
    CHECK(std::set(other.begin(), other.end()).size() == 9);
    const std::vector<std::int32_t> targets = {-1,       -1,       -1,       -1, -1,
                                               again[6], again[7], again[8], -1};
    CHECK(row_of(texts.again.targets, row) == targets);
    CHECK(row_of(texts.other.targets, row) == targets);
  }
  CHECK(texts.again.lengths == std::vector<Index>{9, 9, 9});
  CHECK_THROWS_AS(random_readings(1, tokens, 3, 6, random), Error);
  CHECK_THROWS_AS(two_readings(1, {{2, 3}}, {{2}}), Error);
  CHECK_THROWS_AS(two_readings(1, {{2, 3}}, {}), Error);
}

TEST_CASE("a model of letters reads pieces of eleven of its last 26 ids", "[phase7][course]") {
  Random random(3);
  TransformerOptions o{.vocab_size = 30, .max_length = 23, .d_model = 8, .num_heads = 2};
  const TwoReadings texts = letter_readings(Transformer(o, random));
  CHECK(texts.again.inputs.shape == Shape{200, 23});
  std::set<std::int32_t> letters;
  for (const Batch* batch : {&texts.again, &texts.other}) {
    for (std::size_t i = 0; i < batch->inputs.values.size(); ++i) {
      const std::int32_t id = batch->inputs.values[i];
      if (i % 23 == 0) {
        CHECK(id == Vocabulary::bos);
      } else {
        letters.insert(id);
      }
    }
  }
  CHECK(letters.size() == 26);
  CHECK(*letters.begin() == 4);
  CHECK(*letters.rbegin() == 29);
  CHECK(letter_readings(Transformer(o, random)).again.inputs.values == texts.again.inputs.values);
  o.vocab_size = 26;
  CHECK(letter_readings(Transformer(o, random)).other.inputs.shape == Shape{200, 23});
  o.vocab_size = 25;
  CHECK_THROWS_AS(letter_readings(Transformer(o, random)), Error);
}

TEST_CASE("passages of stories stand behind themselves, and behind three sorts of others",
          "[phase7][course]") {
  const Tokenizer bytes = byte_pair_tokenizer({});
  const std::size_t behind_four[] = {11, 5, 3};  // passage 4 is the second of the second story
  for (const Behind behind : {Behind::other_story, Behind::own_story, Behind::in_order}) {
    const TwoReadings texts = story_readings(bytes, 7, behind);
    CHECK(texts.again.inputs.shape == Shape{24, 97});
    CHECK(texts.other.inputs.values[97] == 7);
    for (const std::size_t i : {0, 4, 23}) {
      CHECK(read(texts.again, i, 0) == passage(i));
      CHECK(read(texts.again, i, 1) == passage(i));
      CHECK(read(texts.other, i, 1) == passage(i));
    }
    CHECK(read(texts.other, 4, 0) == passage(behind_four[std::size_t(behind)]));
  }
  const TwoReadings own = story_readings(bytes, 7, Behind::own_story);
  CHECK(read(own.other, 5, 0) == passage(3));  // behind the last: the first
  CHECK(read(story_readings(bytes, 7, Behind::in_order).other, 0, 0) == passage(2));
}

TEST_CASE("passages of stories from one of them on, and what is refused", "[phase7][course]") {
  const Tokenizer bytes = byte_pair_tokenizer({});
  const TwoReadings own = story_readings(bytes, 7, Behind::own_story, 3);
  CHECK(own.other.inputs.shape == Shape{21, 97});
  CHECK(read(own.other, 2, 0) == passage(3));
  CHECK(read(own.other, 2, 1) == passage(5));
  CHECK(story_readings(bytes, 7, Behind::in_order, 23).again.inputs.shape == Shape{1, 97});
  CHECK_THROWS_AS(story_readings(bytes, 7, Behind::in_order, 24), Error);
  CHECK_THROWS_AS(story_readings(bytes, 7, Behind::in_order, -1), Error);
  std::string twice;  // so that every word becomes one token, and a story too few
  for (int i = 0; i < 2; ++i) {
    for (const char* story : stories) twice += std::string(story) + " ";
  }
  const Tokenizer long_tokens = byte_pair_tokenizer(learn_byte_pairs(twice, 4000));
  CHECK_THROWS_AS(story_readings(long_tokens, 7, Behind::in_order), Error);
}

TEST_CASE("scores of kinds are the mean weights on their keys", "[phase7][course]") {
  const Transformer model = small_model();
  Random random(5);
  const TwoReadings texts = random_readings(1, tokens, 2, piece, random);
  const HeadStudy study(model, texts);
  CHECK(study.again_scores.shape() == Shape{5, 2, 2, 2});
  const std::vector<Tensor> weights = weights_of(model, texts.again.inputs);
  const Index offsets[] = {0, 1, 1, 4, 3};
  for (const HeadKind kind : head_kinds) {
    const bool early = kind == HeadKind::previous;
    double sum = 0, even = 0, count = 0;
    for (Index i = early ? 2 : 5; i < (early ? 5 : 9); ++i) {
      const Index key = kind == HeadKind::first ? 0 : i - offsets[static_cast<std::size_t>(kind)];
      sum += double{weights[1].at({1, 0, i, key})};
      even += 1 / static_cast<double>(i + 1);
      ++count;
    }
    CHECK(score_of(study.again_scores, kind, {1, 0}, 1, 2).mean == Approx(sum / count));
    CHECK(even_score(kind, piece) == Approx(even / count));
  }
}

TEST_CASE("a study of heads orders them by score, and cuts them", "[phase7][course]") {
  Random random(5);
  const HeadStudy study(small_model(), random_readings(1, tokens, 3, piece, random));
  const Heads best = study.by_score(study.other_scores, HeadKind::previous, 2);
  REQUIRE(best.size() == 4);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(score_of(study.other_scores, HeadKind::previous, best[i - 1], 0, 2).mean >=
          score_of(study.other_scores, HeadKind::previous, best[i], 0, 2).mean);
  }
  CHECK(study.falls({}).again == 0);
  const Falls falls = study.falls({best[0]}, Replacement::mean);
  CHECK(falls.other == Approx(study.whole.other - said_without(study.model, study.texts.other,
                                                               {best[0]}, Replacement::mean)
                                                      .log_probability));
  CHECK(falls.again != falls.other);
  CHECK(study.summed_falls({best[0], best[1]}).other ==
        Approx(study.falls({best[0]}).other + study.falls({best[1]}).other));
  CHECK(study.fall_alone(best[0]).again == study.falls({best[0]}).again);
  CHECK(study.fall_alone(best[0]).odds == study.falls({best[0]}).odds);
  CHECK(study.falls({best[1]}).odds ==
        Approx(said_without(study.model, study.texts.again, {}).log_odds -
               said_without(study.model, study.texts.again, {best[1]}).log_odds));
  const Heads three = {{0, 0}, {0, 1}, {1, 0}};
  const Heads others = study.others_like(three, random);  // of layer 0 there are none
  REQUIRE(others.size() == 1);
  CHECK((others[0].layer == 1 && others[0].head == 1));
  CHECK(study.at_random(three).again.mean == Approx(study.falls(others).again));
  CHECK(study.at_random({{1, 0}}).other.mean == Approx(study.falls(others).other));
  CHECK(study.at_random({{1, 0}}).other.count == 12);
  CHECK(study.at_random({{1, 0}}).odds.mean == Approx(study.falls(others).odds));
  CHECK(study.at_random({{1, 0}}).sum.other == Approx(study.falls(others).other));
  const Falls both = study.at_random({{1, 0}, {1, 1}, {0, 0}, {0, 1}}).sum;
  CHECK((both.again == 0 && both.other == 0 && both.odds == 0));
  const RandomFalls two = study.at_random({{0, 0}, {0, 1}});  // both others are of layer 0: none
  CHECK(two.sum.again == 0);
  CHECK(study.at_random(best).other.mean == 0);
  CHECK(study.best_untrained(HeadKind::first) ==
        Approx(even_score(HeadKind::first, 4)).margin(0.01));
}

TEST_CASE("the best heads of a kind, and how heads are written", "[phase7][course]") {
  Random random(5);
  const HeadStudy study(small_model(), random_readings(1, tokens, 3, piece, random));
  const Heads all = study.by_score(study.again_scores, HeadKind::previous, 2);
  CHECK(study.rows() == 3);
  CHECK(to_string(study.best(HeadKind::previous, 2, 2)) == to_string(all).substr(0, 8));
  CHECK(to_string(Heads{{1, 0}, {2, 11}}) == " 1.0 2.11");
  CHECK(to_string(Heads{}).empty());
}

TEST_CASE("an untrained head is chosen on the first half of the texts, and judged on the rest",
          "[phase7][course]") {
  Random random(5);
  const HeadStudy study(small_model(), random_readings(1, tokens, 5, piece, random));
  for (const HeadKind kind : {HeadKind::previous, HeadKind::induction}) {
    double sum = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Initializer initializer = study.model.options.initializer;
      const HeadStudy fresh(untrained(study.model, initializer, seed), study.texts);
      const HeadOf best = fresh.by_score(fresh.again_scores, kind, 2).front();
      sum += score_of(fresh.again_scores, kind, best, 2, 5).mean;
    }
    CHECK(study.best_untrained(kind) == Approx(sum / 3));
  }
}
