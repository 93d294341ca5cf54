#include "course/hidden_word_rows.hpp"

#include "catch.hpp"

using namespace tapestry;

TEST_CASE("one word in six of several sentences is hidden, and said in its place",
          "[phase5][course]") {
  const Vocabulary vocabulary(Grammar().words());
  Random random(3), again(3);
  const Batch batch = hidden_word_rows(vocabulary, 3, 40, random);  // (40, 18)
  CHECK(batch.inputs.shape == Shape{40, 18});
  CHECK(batch.targets.shape == Shape{40, 18});
  std::size_t at = 0, hidden = 0;
  for (int sentence = 0; sentence < 3 * 40; ++sentence) {
    for (const std::string& word : Grammar().sentence(again).words) {
      const bool is_hidden = batch.inputs.values.at(at) == Vocabulary::mask;
      if (!is_hidden) CHECK(batch.inputs.values[at] == vocabulary.id(word));
      CHECK(batch.targets.values.at(at) == (is_hidden ? vocabulary.id(word) : -1));
      hidden += is_hidden;
      ++at;
    }
  }
  CHECK((hidden > 80 && hidden < 160));  // of 720, with a deviation of 10
}
