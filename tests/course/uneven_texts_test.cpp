// What the ranks of steps 82 and 85 train.
#include "course/uneven_texts.hpp"

#include "catch.hpp"
#include "course/parameter_rows.hpp"

using namespace tapestry;

namespace {

double loss_of(Index step, Index micro_batch, Index words, std::uint64_t drop_seed) {
  Random drop(drop_seed);
  const Transformer model = UnevenTexts::new_model();
  return double{UnevenTexts::loss_of(model, step, micro_batch, words, drop).loss_sum.item()};
}

}  // namespace

TEST_CASE("micro-batches count 1 to 7 words, and each its own number of tokens",
          "[phase8][course]") {
  const Transformer model = UnevenTexts::new_model();
  std::vector<Index> words;
  for (Index i = 0; i < UnevenTexts::micro_batches; ++i) {
    words.push_back(UnevenTexts::words_of(i));
    Random drop(1);
    const MicroBatch made = UnevenTexts::loss_of(model, 1, i, words.back(), drop);
    CHECK(made.tokens == double(UnevenTexts::texts * words.back()));
  }
  CHECK(words == std::vector<Index>{1, 6, 4, 2, 7, 5, 3, 1});
}

TEST_CASE("a loss depends on step, micro-batch, words that count, and dropout",
          "[phase8][course]") {
  const double loss = loss_of(3, 2, 4, 9);
  CHECK(loss > 0);
  CHECK(loss_of(3, 2, 4, 9) == loss);
  CHECK(loss_of(4, 2, 4, 9) != loss);
  CHECK(loss_of(3, 1, 4, 9) != loss);
  CHECK(loss_of(3, 2, 4, 8) != loss);
  CHECK(loss_of(3, 2, 5, 9) > loss);  // one more word of each text
  CHECK(loss_of(3, 2, 0, 9) == 0);
}

TEST_CASE("each call makes the same model", "[phase8][course]") {
  const Row a = row_of(UnevenTexts::new_model().parameters());
  CHECK(a == row_of(UnevenTexts::new_model().parameters()));
  CHECK(a.size() == 19040);
}
