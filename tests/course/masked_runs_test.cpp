#include "course/masked_runs.hpp"

#include <set>

#include "catch.hpp"
#include "tapestry/accuracy.hpp"

using namespace tapestry;
using namespace tapestry::masked_runs;

TEST_CASE("each place is to say the letter so many places before it", "[phase5][course]") {
  Random random(3);
  const Batch batch = letters_back(9, 3, random);  // (3, length)
  CHECK(batch.inputs.shape == Shape{3, length});
  CHECK(batch.targets.shape == Shape{3, length});
  const std::vector<std::int32_t>& read = batch.inputs.values;
  for (std::size_t at = 0; at < read.size(); ++at) {
    CHECK(batch.targets.values[at] == (at % length < 9 ? -1 : read[at - 9]));
  }
  CHECK(std::set(read.begin(), read.end()) == std::set<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a model learns what its mask shows", "[phase5][course]") {
  const auto share_right = [](const Mask& mask) {
    Random random(1), data(99);
    const Transformer model({.vocab_size = letters, .max_length = length, .d_model = 32}, random);
    learn(model, mask, [](Random& of_step) { return letters_back(1, 8, of_step); }, 100);
    const Batch test = letters_back(1, 32, data);             // (32, length)
    return accuracy(model(test.inputs, mask), test.targets);  // logits (32, length, letters)
  };
  CHECK(share_right(Mask::local(1)) > 0.9);
  CHECK(share_right(Mask::local(0)) < 0.2);  // guessing: 1 in 8
}

TEST_CASE("two layers reach as far as two steps of their mask", "[phase5][course]") {
  const Mask local = Mask::causal() & Mask::local(2), strided = Mask::causal() & Mask::strided(5);
  for (Index distance = 0; distance < length; ++distance) {
    CAPTURE(distance);
    CHECK(in_reach(Mask::causal(), distance));
    CHECK(in_reach(local, distance) == (distance <= 4));
    CHECK(in_reach(strided, distance) == (distance % 5 == 0));
    const bool both = distance <= 4 || distance % 5 <= 2;  // 2 + 2, or a stride and two
    CHECK(in_reach(Mask::causal() & (Mask::local(2) | Mask::strided(5)), distance) == both);
  }
}

TEST_CASE("two layers say a letter that one layer hides, and more training says it better",
          "[phase5][course]") {
  const Mask local = Mask::causal() & Mask::local(2);
  const double some = share_right(local, 4, 1, 2, 30), more = share_right(local, 4, 1);
  CHECK(more > 0.95);
  CHECK(some < more - 0.2);
  CHECK(share_right(local, 5, 1) < 0.2);
  CHECK(share_right(local, 4, 2, 2, 30) != some);  // another start
  CHECK(share_right(local, 4, 1, 3, 30) != some);  // other texts
}

TEST_CASE("sentences of the toy grammar need the word before", "[phase5][course]") {
  const double all = loss_on_sentences(Mask::causal(), 1),
               none = loss_on_sentences(Mask::local(0), 1);
  CHECK(all > Grammar().entropy() / 7);
  CHECK(all < Grammar().entropy() / 7 + 0.05);
  CHECK(none > all + 0.1);
  CHECK(loss_on_sentences(Mask::local(0), 1, 3) != none);  // other texts
}
