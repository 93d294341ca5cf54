// The heads of step 23 from any seed.
#include "course/hidden_word_heads.hpp"

#include <algorithm>

#include "catch.hpp"
#include "course/trained_by_hand.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

TEST_CASE("heads of step 23 learn from 64 sentences at a time, whatever their seed",
          "[phase2][course]") {
  const Vocabulary vocabulary(Grammar().words());
  Random random(5), start(43), again(5);
  const Batch test = hidden_word_batch(vocabulary, 30, random);  // (30, 6)
  CHECK(test.inputs.shape == Shape{30, 6});
  const auto& ids = test.inputs.values;
  CHECK(std::count(ids.begin(), ids.end(), Vocabulary::mask) > 10);
  CHECK(hidden_word_batch(vocabulary, 30, again).inputs.values == ids);
  const Transformer model = trained_heads(vocabulary, 43, 55);
  const Transformer by_hand(model.options, start);
  train_by_hand(by_hand, {3e-3, 1e-4, 50, 55}, [&](Index step) {
    Random drawn(1, static_cast<std::uint64_t>(step));
    const Batch b = hidden_word_batch(vocabulary, 64, drawn);  // (64, 6)
    return cross_entropy(by_hand(b.inputs), b.targets);
  });
  CHECK(difference_to(model(test.inputs), by_hand(test.inputs)) == "");
  CHECK(model.options.num_heads == 4);
  CHECK(model.blocks.size() == 1);
  CHECK(!model.options.is_causal);
  CHECK(!model.options.has_feed_forward);
}
