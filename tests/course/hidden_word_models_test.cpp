// The models of step 52 from any seed.
#include "course/hidden_word_models.hpp"

#include "catch.hpp"
#include "course/head_distances.hpp"
#include "course/trained_by_hand.hpp"
#include "ops/expect.hpp"
#include "printed_by.hpp"

using namespace tapestry;

namespace {

const Vocabulary& words() {
  static const Vocabulary one(Grammar().words());
  return one;
}

Batch texts(Index rows, Random random) {  // (rows, 18)
  return hidden_word_rows(words(), hidden_word_sentences, rows, random);
}

}  // namespace

TEST_CASE("a model of step 52 has attention only, of four heads", "[phase5][course]") {
  const Transformer model = hidden_word_model(words(), 2, true, 5);
  CHECK(model.blocks.size() == 2);
  CHECK(model.options.is_causal);
  CHECK(!hidden_word_model(words(), 2, false, 5).options.is_causal);
  CHECK(look(model, texts(2, Random(1)).inputs)[1].share.shape() == Shape{4});
  CHECK(!model.options.has_feed_forward);
  const Indices seen = texts(3, Random(1)).inputs;  // (3, 18)
  CHECK(largest_difference(hidden_word_model(words(), 2, true, 6)(seen), model(seen)) > 1e-4);
}

TEST_CASE("step 52 trains on 16 texts at a time, with a rate that rises and falls",
          "[phase5][course]") {
  const Indices seen = texts(3, Random(1)).inputs;  // (3, 18)
  const Transformer learned = hidden_word_model(words(), 1, false, 4),
                    by_hand = hidden_word_model(words(), 1, false, 4);
  const std::string told =
      stderr_of([&] { learn_hidden_words(learned, words(), 4, "one layer", 55); });
  CHECK(told.starts_with("one layer "));
  train_by_hand(by_hand, {1e-2, 1e-4, 50, 55}, [&](Index step) {
    const Batch b = texts(16, Random(4, static_cast<std::uint64_t>(step)));  // (16, 18)
    return cross_entropy(by_hand(b.inputs), b.targets);
  });
  CHECK(difference_to(learned(seen), by_hand(seen)) == "");
}
