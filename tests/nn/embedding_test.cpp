#include "tapestry/nn/embedding.hpp"

#include "catch.hpp"
#include "ops/expect.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

TEST_CASE("an embedding looks up the row of every id", "[phase1][nn]") {
  Random random(1);
  Embedding words(3, 2, random);
  words.weight = Tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(difference(words(Indices({2, 2}, {2, 0, 1, 1})), {2, 2, 2}, {5, 6, 1, 2, 3, 4, 3, 4}) ==
        "");
  CHECK(words(Indices({0}, {})).shape() == Shape{0, 2});
}

TEST_CASE("a row that was used twice gets both gradients", "[phase1][nn]") {
  Random random(1);
  const Embedding words(3, 2, random);
  Tape tape(words.parameters());
  const Tensor y = words(Indices({3}, {1, 2, 1}));
  const Gradients gradients = tape.backward(y, Tensor({3, 2}, {1, 2, 3, 4, 50, 60}));
  CHECK(difference(gradients[words.weight], {3, 2}, {0, 0, 51, 62, 3, 4}) == "");
}

TEST_CASE("an embedding names its weight and refuses what is no row", "[phase1][nn]") {
  Random random(1), same(1);
  const Embedding words(3, 2, random, init::xavier_uniform);
  CHECK(words.weight.values() == init::xavier_uniform({3, 2}, same).values());
  REQUIRE(words.parameters("words.").size() == 1);
  CHECK(words.parameters("words.")[0].name == "words.weight");
  CHECK(words.parameters()[0].value.buffer() == words.weight.buffer());
  CHECK(complaint([&] { words(Indices({1}, {3})); }, {"embedding: index 3"}) == "");
  CHECK(complaint([&] { Embedding(3, 0, random); }, {"num_embeddings = 3, width = 0"}) == "");
  CHECK(complaint([&] { Embedding(0, 3, random); }, {"num_embeddings = 0, width = 3"}) == "");
  CHECK(complaint([&] { Embedding(3, 2, random, nullptr); },
                  {"embedding: the initializer is null", "init::normal"}) == "");
  CHECK(Embedding(1, 1, random)(Indices({2}, {0, 0})).shape() == Shape{2, 1});
}
