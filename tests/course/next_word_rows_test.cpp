// The sentences of steps 43 and 45: held out or not, and with the last word as the only target.
#include "course/next_word_rows.hpp"

#include <set>

#include "catch.hpp"

using namespace tapestry;

namespace {

std::set<std::string> texts_of(const Batch& batch, const Vocabulary& vocabulary) {
  std::set<std::string> texts;
  for (Index row = 0; row < batch.inputs.shape[0]; ++row) {
    const auto begin = batch.inputs.values.begin() + row * 7;
    texts.insert(vocabulary.decode(Indices({7}, std::vector<std::int32_t>(begin, begin + 7))));
  }
  return texts;
}

}  // namespace

TEST_CASE("one sentence in ten is held out, and none is in both parts", "[phase4][course]") {
  const Vocabulary vocabulary(Grammar().words());
  Random random(1);
  int held_out = 0;
  for (int i = 0; i < 4000; ++i) {
    held_out += part_of(Grammar().sentence(random)) == Part::held_out ? 1 : 0;
  }
  CHECK((held_out > 340 && held_out < 460));
  const Batch train = next_word_rows(vocabulary, Part::train, 800, random);     // (800, 7)
  const Batch other = next_word_rows(vocabulary, Part::held_out, 800, random);  // (800, 7)
  CHECK(train.inputs.shape == Shape{800, 7});
  const std::set<std::string> trained = texts_of(train, vocabulary);
  for (const std::string& text : texts_of(other, vocabulary)) CHECK(trained.count(text) == 0);
}

TEST_CASE("of last words, only the one before <eos> is a target", "[phase4][course]") {
  const Vocabulary vocabulary(Grammar().words());
  const Batch whole = next_word_batch(vocabulary, {Grammar().example().words});  // (1, 7)
  const Batch last = last_words(whole);                                          // (1, 7)
  CHECK(last.inputs.values == whole.inputs.values);
  for (std::size_t at = 0; at < 7; ++at) {
    CHECK(last.targets.values[at] == (at == 5 ? vocabulary.id("mat") : -1));
  }
}
