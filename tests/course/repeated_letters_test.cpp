// Texts of five letters and the same again.
#include "course/repeated_letters.hpp"

#include <algorithm>

#include "catch.hpp"
#include "course/inside.hpp"
#include "course/one_text.hpp"
#include "course/task_models.hpp"

using namespace tapestry;

namespace {

// Trained a little, so that its heads look at something.
const Transformer& model() {
  static const Transformer result =
      trained_on(repeated_letters_task(), init::lecun_normal, 1, 60, "");
  return result;
}

}  // namespace

TEST_CASE("five letters come again, and all but the last are read", "[phase4][course]") {
  const std::vector<TaskSequence> texts = repeated_letters(3);
  REQUIRE(texts.size() == 3);
  const Indices ids = ids_before_last(texts);
  REQUIRE(ids.shape == Shape{3, 10});
  for (std::size_t text = 0; text < 3; ++text) {
    const Words& words = texts[text].words;
    REQUIRE(words.size() == 10);
    for (std::size_t i = 0; i < 5; ++i) CHECK(words[i] == words[i + 5]);
    CHECK(ids.values[10 * text] == Vocabulary::bos);
    for (std::size_t i = 0; i < 9; ++i) {
      CHECK(ids.values[10 * text + i + 1] == repeated_letters_task().vocabulary().id(words[i]));
    }
  }
  CHECK(texts[0].words != texts[1].words);
}

TEST_CASE("weights behind the same letter are means over the letters that come again",
          "[phase4][course]") {
  const WeightsBehind found = weights_behind(model());
  const std::vector<TaskSequence> texts = repeated_letters(300);
  std::vector<TaskSequence> mixed;
  Random random(6);
  for (const TaskSequence& one : texts) mixed.push_back(with_mixed_prompt(one, random));
  const Transformer fresh = untrained(model(), init::lecun_normal);
  const Tensor trained = weights_of(model(), ids_before_last(texts))[1];     // (300, 4, 10, 10)
  const Tensor random_start = weights_of(fresh, ids_before_last(texts))[1];  // (300, 4, 10, 10)
  const Tensor of_mixed = weights_of(model(), ids_before_last(mixed))[1];    // (300, 4, 10, 10)
  double behind = 0, untrained_behind = 0, old_place = 0, count = 0;
  for (Index text = 0; text < 300; ++text) {
    const Words& words = mixed[std::size_t(text)].words;
    for (Index query = 6; query < 10; ++query) {  // its letter stood at query - 5
      behind += double{trained.at({text, 2, query, query - 4})} / 1200;
      untrained_behind += double{random_start.at({text, 2, query, query - 4})} / 1200;
      const std::string& letter = words[std::size_t(query - 1)];
      if (std::find(words.begin(), words.end(), letter) - words.begin() == query - 6) continue;
      old_place += double{of_mixed.at({text, 2, query, query - 4})};
      count += 1;
    }
  }
  REQUIRE(found.trained.size() == 8);
  CHECK(found.trained[6] == Approx(behind));
  CHECK(found.untrained.at(6) == Approx(untrained_behind));
  CHECK(found.old_place.at(6) == Approx(old_place / count));
}

TEST_CASE("links of the last letter, cut one by one", "[phase4][course]") {
  const CutLinks links = cut_links(model());
  REQUIRE(links.weights.size() == 40 * 4 * 10);
  REQUIRE(links.falls.size() == links.weights.size());
  const TaskSequence last = repeated_letters(40).back();
  const Reader reader = reader_of(model(), repeated_letters_task(), last.words);
  const std::size_t at = 39 * 40 + 2 * 10 + 5;  // head 2, key 5
  CHECK(links.weights[at] == Approx(double{weights_of(model(), reader.ids)[1].at({0, 2, 9, 5})}));
  const Effect lost = reader.without_heads({}) - reader.with_link(5, {2}, 0);
  CHECK(links.falls[at] == Approx(lost.logit));
}
