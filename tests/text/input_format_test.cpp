#include "tapestry/text/input_format.hpp"

#include "catch.hpp"
#include "course/brackets.hpp"
#include "course/grammar.hpp"
#include "course/tasks.hpp"
#include "ops/expect.hpp"
#include "tapestry/text/corpus.hpp"

using namespace tapestry;

namespace {

std::string fed(const Batch& batch) {
  const InputFormat format = input_format_of(batch);
  return std::string(format.bos ? "<bos>, " : "") + (format.guess == Guess::next_word ? "next"
                                                     : format.guess == Guess::hidden_word
                                                         ? "hidden"
                                                         : "other");
}

Batch row(std::vector<std::int32_t> inputs, std::vector<std::int32_t> targets) {
  const Shape shape = {1, static_cast<Index>(inputs.size())};
  return {Indices(shape, std::move(inputs)), Indices(shape, std::move(targets)), {}};
}

}  // namespace

TEST_CASE("a batch tells how it feeds a model, whoever made it", "[phase2][text]") {
  const Vocabulary vocabulary({"a", "b", "c"});
  Random random(1);
  CHECK(fed(next_word_batch(vocabulary, {{"a", "b"}, {}, {"c"}})) == "<bos>, next");
  CHECK(fed(next_word_batch(vocabulary, {{}})) == "<bos>, next");
  CHECK(fed(masked_lm_batch(vocabulary, {{"a", "b"}, {"c"}}, random)) == "hidden");
  const Indices text = Vocabulary::of_characters("a text").encode("a text at a tea");
  CHECK(fed(random_windows(text, 3, 5, random)) == "next");
  CHECK(fed(BracketTask().batch(Part::train, 4, random)) == "<bos>, next");
  CHECK(fed(Grammar().batch(Vocabulary(Grammar().words()), 4, random)) == "<bos>, next");
  for (const TaskKind kind : {TaskKind::copy, TaskKind::reverse, TaskKind::sort,
                              TaskKind::induction, TaskKind::majority}) {
    CHECK(fed(TinyTask(kind).batch(Part::train, 4, random)) == "<bos>, next");
  }
}

TEST_CASE("a batch of one's own tells it, too", "[phase2][text]") {
  CHECK(fed(row({1, 5, 6}, {5, 6, 2})) == "<bos>, next");
  CHECK(fed(row({5, 6, 7}, {6, 7, 8})) == "next");
  CHECK(fed(row({5, 6, 0}, {6, 2, -1})) == "next");  // <pad> ends a row
  CHECK(fed(row({5, 6, 7}, {-1, -1, 9})) == "next");
  CHECK(fed(row({5, 3, 7}, {-1, 6, -1})) == "hidden");
  CHECK(fed(row({1, 3, 7}, {-1, 6, -1})) == "<bos>, hidden");
  CHECK(fed(row({5, 3, 7}, {5, 6, -1})) == "other");  // one that is seen is asked, too
  CHECK(fed(row({5, 6, 7}, {5, 6, 7})) == "other");
  CHECK(fed(row({5, 6, 0, 0}, {9, 2, -1, -1})) == "other");  // 6 stands behind 5, and is no <pad>
  CHECK(fed(row({5, 6}, {0, -1})) == "other");               // <pad> may be asked
  const Batch half{Indices({2, 2}, {1, 5, 6, 5}), Indices({2, 2}, {5, 2, 5, 2}), {}};
  CHECK(fed(half) == "next");  // not every row begins with <bos>
  const Batch two{Indices({2, 2}, {1, 5, 1, 6}), Indices({2, 2}, {5, 9, 7, 2}), {}};
  CHECK(fed(two) == "<bos>, other");  // 6 stands behind, not 7
}

TEST_CASE("a batch that asks nothing tells nothing", "[phase2][text]") {
  const auto nothing = {"input_format_of: no position of the batch has a target"};
  CHECK(complaint([] { input_format_of(row({5, 6}, {-1, -1})); }, nothing) == "");
  CHECK(complaint([] { input_format_of(next_word_batch(Vocabulary({"a"}), {})); }, nothing) == "");
  CHECK(complaint([] { input_format_of({Indices({1}, {5}), Indices({1}, {6}), {}}); },
                  {"inputs are (1), targets (1)", "(rows, length)"}) == "");
  CHECK(complaint([] { input_format_of({Indices({1, 2}, {5, 6}), Indices({1, 1}, {6}), {}}); },
                  {"(1, 2)", "(1, 1)"}) == "");
  const Batch whole = row({5, 6}, {6, 2});
  Batch no_input = whole, no_target = whole;
  no_input.inputs.values.pop_back();
  no_target.targets.values.pop_back();
  for (const Batch& batch : {no_input, no_target}) {
    CHECK(complaint([&] { input_format_of(batch); }, {"input_format_of: ", "(1, 2)"}) == "");
  }
}

TEST_CASE("words go through the metadata of a file and back", "[phase1][text]") {
  const Vocabulary words(split_words("the cat sat")), none((Words())),
      characters = Vocabulary::of_characters("a cat\n=> \xc3\xa9");
  for (const Vocabulary* vocabulary : {&words, &none, &characters}) {
    const Vocabulary back = vocabulary_in(to_metadata(*vocabulary, row({1}, {2})));
    CHECK(back.words() == vocabulary->words());
    CHECK(back.by_characters() == vocabulary->by_characters());
  }
  CHECK(complaint([] { vocabulary_in({}); }, {"the file names no words", "to_metadata"}) == "");
  CHECK(complaint([] { vocabulary_in({{"words", "a"}, {"words.unit", "byte"}}); },
                  {"'words.unit' is 'byte'", "word or character"}) == "");
}

TEST_CASE("how a model was fed goes through the metadata of a file and back", "[phase2][text]") {
  const Vocabulary words({"a"});
  for (const bool bos : {true, false}) {
    const std::int32_t first = bos ? 1 : 5;
    const Batch next = row({first, 5}, {5, -1}), hidden = row({first, 3}, {-1, 5}),
                other = row({first, 5}, {7, 7});
    for (const auto& [batch, guess] :
         {std::pair(next, Guess::next_word), {hidden, Guess::hidden_word}, {other, Guess::other}}) {
      const std::optional<InputFormat> back = input_format_in(to_metadata(words, batch));
      REQUIRE(back.has_value());
      CHECK(back->bos == bos);
      CHECK(back->guess == guess);
    }
  }
  const auto metadata = to_metadata(words, row({1, 5}, {5, 2}));
  CHECK(metadata.at("feeding.bos") == "true");
  CHECK(metadata.at("feeding.guess") == "next word");
}

TEST_CASE("metadata that does not tell how a model was fed is told from what makes no sense",
          "[phase2][text]") {
  CHECK_FALSE(input_format_in({}).has_value());
  CHECK_FALSE(input_format_in({{"words", "a"}, {"words.unit", "word"}}).has_value());
  const auto refused = [](const char* bos, const char* guess, const char* words) {
    return complaint([&] { input_format_in({{"feeding.bos", bos}, {"feeding.guess", guess}}); },
                     {words});
  };
  CHECK(refused("yes", "next word", "'feeding.bos' is 'yes', but must be true or false") == "");
  CHECK(refused("true", "next", "'feeding.guess' is 'next', but must be next word, ") == "");
  CHECK(complaint([] { input_format_in({{"feeding.bos", "true"}}); }, {"'feeding.guess' is ''"}) ==
        "");
  CHECK(complaint([] { input_format_in({{"feeding.guess", "other"}}); }, {"'feeding.bos' is ''"}) ==
        "");
}
