// The texts of step 61, how answers to them are counted, and how a model learns them.
#include "course/beyond_length.hpp"

#include <algorithm>

#include "catch.hpp"
#include "course/trained_by_hand.hpp"
#include "ops/expect.hpp"
#include "printed_by.hpp"

using namespace tapestry;
using namespace tapestry::beyond_length;

namespace {

// What is to be said at position i of a text, found by another way: forwards.
std::int32_t answer(Task task, const std::vector<std::int32_t>& text, std::size_t i) {
  if (task == three_back) return i < 3 ? -1 : text[i - 3];
  std::int32_t latest_letter = -1;
  for (std::size_t j = 0; j <= i; ++j) {
    if (text[j] < 4) latest_letter = text[j];
  }
  return latest_letter;
}

// The words that texts() draws.
std::vector<std::int32_t> drawn(Index count, Random random) {
  std::vector<std::int32_t> words;
  for (Index i = 0; i < count; ++i) words.push_back(static_cast<std::int32_t>(random.randint(16)));
  return words;
}

// It says this word everywhere: a norm that gives the same row always, and one column above all.
Transformer parrot(Index word) {
  Random random(1);
  Transformer model({.vocab_size = 16, .max_length = 64, .d_model = 8, .num_heads = 2}, random);
  LayerNorm& norm = std::get<LayerNorm>(model.norm->layer);
  norm.weight = Tensor::zeros({8});               // (8)
  norm.bias = Tensor::ones({8});                  // (8)
  model.lm_head.weight = Tensor::zeros({8, 16});  // (8, 16)
  for (Index i = 0; i < 8; ++i) model.lm_head.weight.set({i, word}, 1);
  return model;
}

}  // namespace

TEST_CASE("texts beyond the length ask for the word three back and the latest letter",
          "[phase6][course]") {
  for (const Task task : {three_back, latest}) {
    for (const Index length : {2, 24}) {
      Random random(5, 6);
      const Texts t = texts(task, 9, length, random);
      CHECK(t.words.shape == Shape{9, length});
      CHECK(t.answers.shape == Shape{9, length});
      CHECK(t.words.values == drawn(9 * length, Random(5, 6)));
      for (Index row = 0; row < 9; ++row) {
        const auto begin = t.words.values.begin() + row * length;
        const std::vector<std::int32_t> text(begin, begin + length);
        for (std::size_t i = 0; i < text.size(); ++i) {
          CHECK(t.answers.values[static_cast<std::size_t>(row * length) + i] ==
                answer(task, text, i));
        }
      }
    }
  }
}

TEST_CASE("who always says one word is right where it is due among the last eight",
          "[phase6][course]") {
  for (const Task task : {three_back, latest}) {
    for (const Index length : lengths) {
      const auto words = drawn(128 * length, Random(1000, static_cast<std::uint64_t>(length)));
      int right = 0, asked = 0;
      for (Index row = 0; row < 128; ++row) {
        const auto begin = words.begin() + row * length;
        const std::vector<std::int32_t> text(begin, begin + length);
        for (Index i = length - 8; i < length; ++i) {
          const std::int32_t due = answer(task, text, static_cast<std::size_t>(i));
          asked += due >= 0;
          right += due == 2;
        }
      }
      CHECK(same_number(share_right(parrot(2), task, length), double(right) / asked, 1e-12));
    }
  }
}

namespace {

constexpr Index steps = 22;

// Seed 4, `steps` steps on texts of `length` words.
Transformer trained_by_hand(Task task, Positions positions, double base, Index length) {
  Random random(4, 0);
  const Transformer model({.vocab_size = 16,
                           .max_length = 64,
                           .d_model = 32,
                           .has_feed_forward = false,
                           .positions = positions,
                           .rotary = {.base = base},
                           .initializer = init::lecun_normal},
                          random);
  train_by_hand(model, {5e-3, 2e-4, 20, steps}, [&](Index step) {
    Random data(4, static_cast<std::uint64_t>(step));
    const Texts t = texts(task, 32, length, data);    // (32, length)
    return cross_entropy(model(t.words), t.answers);  // logits (32, length, 16)
  });
  return model;
}

}  // namespace

TEST_CASE("step 61 trains on 32 texts of 16 words, with a rate that rises and falls",
          "[phase6][course]") {
  const Transformer by_hand = trained_by_hand(latest, Positions::learned, 10000, 16);
  const std::string told = stderr_of([&] {
    const Transformer model = trained_model(latest, Positions::learned, 4, steps);
    CHECK(distance_between(model, by_hand) < 1e-6);
  });
  CHECK(told.starts_with("the latest of a, b, c and d, learned "));
}

TEST_CASE(
    "a mask that hides nothing changes no answer, and one that hides all but the own word does",
    "[phase6][course]") {
  const Transformer model = trained_model(latest, Positions::rotary, 4, 100);
  const double all = share_right(model, latest, 16);
  CHECK(share_right(model, latest, 16, Mask::local(15)) == all);
  CHECK(share_right(model, latest, 16, Mask::local(0)) < all - 0.05);
}

TEST_CASE("a base of rotary positions and a length of training are those of the model",
          "[phase6][course]") {
  const Transformer by_hand = trained_by_hand(three_back, Positions::rotary, 100, 24);
  const Transformer model = trained_model(three_back, Positions::rotary, 4, steps, 100, 24);
  CHECK(model.options.rotary.base == 100);
  CHECK(distance_between(model, by_hand) < 1e-6);
  CHECK(trained_model(three_back, Positions::rotary, 4, 0).options.rotary.base == 10000);
}

TEST_CASE("in place of all words before it a word sees 16, or 32 at two distances",
          "[phase6][course]") {
  const std::vector<NamedMask> seen = masks();
  REQUIRE(seen.size() == 3);
  for (Index back = 0; back < 64; ++back) {
    CHECK(seen[0].mask.allows(0, 63, 63 - back) == (back < 16));
    CHECK(seen[1].mask.allows(0, 63, 63 - back) == (back < 32));
    CHECK(seen[2].mask.allows(0, 63, 63 - back) == (back < 16 || (back >= 32 && back < 48)));
  }
}

TEST_CASE("shares of several seeds are told by their mean, the smallest and the largest",
          "[phase6][course]") {
  CHECK(mean_and_range({0.5, 0.09, 1}) == "   53 9-100  ");
  CHECK(mean_and_range({1}) == "  100 100-100");
  CHECK(complaint([] { mean_and_range({}); }, {"mean_and_range", "no shares"}) == "");
}

TEST_CASE("step 61 asks at its length of training and up to four times that", "[phase6][course]") {
  CHECK(lengths == std::vector<Index>{16, 24, 32, 48, 64});
  CHECK(schemes[static_cast<std::size_t>(Positions::alibi)] == "alibi");
}
