#include "course/translation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

// The two languages once more, word by word.
const std::map<std::string, std::string> nouns = {
    {"cats", "gati"}, {"birds", "uceli"},   {"wolves", "lupi"}, {"mice", "topi"},
    {"dogs", "kane"}, {"horses", "kavale"}, {"goats", "kapre"}, {"bees", "ape"}};
const std::map<std::string, std::string> adjectives = {
    {"small", "pikol"}, {"old", "vek"}, {"black", "ner"}, {"fast", "svelt"}};
const std::map<std::string, std::string> verbs = {
    {"chase", "kac"}, {"see", "ved"}, {"hear", "od"}, {"follow", "seg"}};
const std::map<std::string, std::string> prepositions = {
    {"near", "visin"}, {"behind", "detro"}, {"under", "soto"}};

char ending(const std::string& noun) { return nouns.at(noun).back(); }

// Another way to the same translation: the sentence is cut at the verb and before prepositions, and
// each piece is turned round (preposition adjective noun -> noun adjective preposition).
Words expected(const Words& source) {
  Words target, piece;
  std::string verb, subject;
  const auto flush = [&] {
    std::string noun;
    if (!piece.empty()) noun = piece.back();
    if (subject.empty()) subject = noun;
    for (auto word = piece.rbegin(); word != piece.rend(); ++word) {
      if (nouns.count(*word)) target.push_back(nouns.at(*word));
      if (adjectives.count(*word)) target.push_back(adjectives.at(*word) + ending(noun));
      if (prepositions.count(*word)) target.push_back(prepositions.at(*word));
    }
    piece.clear();
  };
  for (const std::string& word : source) {
    if (verbs.count(word) || prepositions.count(word)) flush();
    if (verbs.count(word)) {
      verb = verbs.at(word);
    } else {
      piece.push_back(word);
    }
  }
  flush();
  target.push_back(verb + ending(subject) + 'n');
  return target;
}

std::size_t count_nouns(const Words& words) {
  return static_cast<std::size_t>(std::count_if(
      words.begin(), words.end(), [](const auto& word) { return nouns.count(word) == 1; }));
}

Words words_of(const char* text) { return split_words(text); }

}  // namespace

TEST_CASE("translations, written out", "[phase6][text]") {
  CHECK(translate(words_of("cats see dogs")).target == words_of("gati kane vedin"));
  CHECK(translate(words_of("dogs see cats")).target == words_of("kane gati veden"));
  const Translation long_one = translate(words_of("small cats near dogs chase black birds"));
  CHECK(long_one.target == words_of("gati pikoli kane visin uceli neri kacin"));
  CHECK(long_one.from == std::vector<Index>{1, 0, 3, 2, 6, 5, 4});
  CHECK(long_one.ends_as == std::vector<Index>{-1, 1, -1, -1, -1, 6, 1});
  CHECK(translate(words_of("old bees hear mice under fast goats")).target ==
        words_of("ape veke topi kapre svelte soto oden"));
}

TEST_CASE("translations agree with rules written another way", "[phase6][text]") {
  const TranslationTask task({.fewest = 2, .most = 6});
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const Translation one = task.sentence(i % 2 ? Part::train : Part::held_out, random);
    CHECK(one.target == expected(one.source));
  }
}

TEST_CASE("each target word comes from one source word, and ends as its noun", "[phase6][text]") {
  const TranslationTask task({.fewest = 2, .most = 6});
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const Translation one = task.sentence(Part::train, random);
    REQUIRE(one.from.size() == one.target.size());
    REQUIRE(one.ends_as.size() == one.target.size());
    CHECK(one.source.size() == one.target.size());
    const std::set<Index> different(one.from.begin(), one.from.end());
    CHECK(different.size() == one.source.size());
    CHECK((*different.begin() == 0 && *different.rbegin() + 1 == std::ssize(one.source)));
    for (std::size_t t = 0; t < one.target.size(); ++t) {
      const std::string& word = one.source[static_cast<std::size_t>(one.from[t])];
      const bool agrees = adjectives.count(word) || verbs.count(word);
      CHECK(agrees == (one.ends_as[t] >= 0));
      if (!agrees) continue;
      const std::string& noun = one.source[static_cast<std::size_t>(one.ends_as[t])];
      REQUIRE(nouns.count(noun) == 1);
      const std::string& said = one.target[t];
      CHECK(said[said.size() - (verbs.count(word) ? 2 : 1)] == ending(noun));
    }
  }
}

TEST_CASE("every number of phrases is equally likely", "[phase6][text]") {
  const TranslationTask task;  // 2 to 5
  Random random(3);
  std::map<std::size_t, int> counts;
  for (int i = 0; i < 2000; ++i) {
    const Words source = task.sentence(Part::train, random).source;
    const std::size_t phrases = count_nouns(source);
    ++counts[phrases];
    CHECK((source.size() + 1 >= 2 * phrases && source.size() + 1 <= 3 * phrases));
  }
  CHECK(counts.size() == 4);
  for (const auto& [phrases, count] : counts) CHECK(std::abs(count - 500) < 97);  // 5 deviations
}

TEST_CASE("held-out sentences are never trained on", "[phase6][text]") {
  const TranslationTask task({.fewest = 2, .most = 2});
  std::set<Words> parts[2];
  for (const Part part : {Part::train, Part::held_out}) {
    Random random(part == Part::train ? 1 : 2);
    for (int i = 0; i < 8000; ++i) {
      parts[part == Part::train].insert(task.sentence(part, random).source);
    }
  }
  for (const Words& words : parts[0]) CHECK(parts[1].count(words) == 0);
  // 40 * 40 * 4 sentences with 0 to 2 adjectives, one in ten held out.
  CHECK(parts[0].size() > 400);
  CHECK(std::abs(static_cast<double>(parts[0].size()) - 640) < 5 * 24);
}

TEST_CASE("a batch has both languages, each with its lengths", "[phase6][text]") {
  const TranslationTask task;
  const TranslationBatch batch =
      task.batch({translate(words_of("cats see dogs")),
                  translate(words_of("small cats near dogs chase black birds"))});
  CHECK(batch.source.shape == Shape{2, 7});
  CHECK(batch.source_lengths == std::vector<Index>{3, 7});
  CHECK(batch.target.inputs.shape == Shape{2, 8});
  CHECK(batch.target.lengths == std::vector<Index>{4, 8});
  CHECK(task.source_words().decode(batch.source) ==
        "cats see dogs <pad> <pad> <pad> <pad> small cats near dogs chase black birds");
  CHECK(task.target_words().decode(batch.target.inputs) ==
        "<bos> gati kane vedin <pad> <pad> <pad> <pad> "
        "<bos> gati pikoli kane visin uceli neri kacin");
  CHECK(batch.target.targets.values[3] == Vocabulary::eos);
  CHECK(batch.target.targets.values[4] == -1);
  // (2, 8, 7): where the words said at each position come from, and end as.
  const std::vector<double> from = doubles(batch.from), ends_as = doubles(batch.ends_as);
  CHECK(batch.from.shape() == Shape{2, 8, 7});
  CHECK(batch.ends_as.shape() == Shape{2, 8, 7});
  std::vector<double> from_expected(112), ends_expected(112);
  for (const auto& [said, key] : std::map<int, int>{{0, 0}, {1, 2}, {2, 1}}) {
    from_expected[static_cast<std::size_t>(7 * said + key)] = 1;
  }
  ends_expected[7 * 2 + 0] = 1;
  const std::vector<std::size_t> order = {1, 0, 3, 2, 6, 5, 4};
  for (std::size_t t = 0; t < 7; ++t) from_expected[56 + 7 * t + order[t]] = 1;
  for (const std::size_t at : {1 * 7 + 1, 5 * 7 + 6, 6 * 7 + 1}) ends_expected[56 + at] = 1;
  CHECK(from == from_expected);
  CHECK(ends_as == ends_expected);
  CHECK(task.source_words().size() == 24);
  CHECK(task.target_words().size() == 32);
}

TEST_CASE("a seed gives the same batch of translations again", "[phase6][text]") {
  const TranslationTask task;
  const auto values = [&](std::uint64_t seed) {
    Random random(seed);
    return task.batch(Part::train, 8, random).source.values;
  };
  CHECK(values(1) == values(1));
  CHECK(values(1) != values(2));
}

TEST_CASE("what is no sentence is not translated", "[phase6][text]") {
  const auto refused = [](const char* text, std::initializer_list<const char*> words) {
    return complaint([&] { translate(words_of(text)); }, words);
  };
  CHECK(refused("cats chas dogs", {"'chas'", "Did you mean 'chase'"}) == "");
  CHECK(refused("", {"translate: \"\": it ends too early", "phrase verb phrase"}) == "");
  CHECK(refused("cats", {"it ends too early"}) == "");
  CHECK(refused("near cats see dogs", {"translate: \"near cats see dogs\": "}) == "");
  CHECK(refused("cats see", {"it ends too early"}) == "");
  CHECK(refused("cats see dogs hear", {"\"hear\" is a second verb"}) == "");
  CHECK(refused("cats dogs see birds", {"there is no place for \"dogs\""}) == "");
  CHECK(refused("small old cats see dogs", {"there is no place for \"old\""}) == "");
  CHECK(refused("near cats see dogs", {"a noun is due, not \"near\""}) == "");
  CHECK(refused("cats see dogs <pad>", {"there is no place for \"<pad>\""}) == "");
  CHECK(complaint([] { TranslationTask({1, 5}); }, {"1 to 5 noun phrases", "must be 2 to 100"}) ==
        "");
  CHECK(complaint([] { TranslationTask({4, 3}); }, {"the fewest not above the most"}) == "");
  CHECK(complaint([] { TranslationTask({2, 101}); }, {"must be 2 to 100"}) == "");
  Random random(1);
  for (const Index phrases : {2, 100}) {
    const TranslationTask task({phrases, phrases});
    CHECK(task.batch(Part::train, 1, random).source_lengths.size() == 1);
  }
  CHECK(complaint([&] { TranslationTask().batch(Part::train, 0, random); },
                  {"a batch needs 1 row or more, not 0"}) == "");
}
