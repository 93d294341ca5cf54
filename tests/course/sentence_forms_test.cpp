#include "course/sentence_forms.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

// What kind of word it is, written a second time: determiner, adjective, noun, helper, verb, time.
char kind(const std::string& word) {
  const std::map<char, std::set<std::string>> lists = {
      {'d', {"the", "a", "this"}},
      {'a', {"small", "big", "brown", "wild"}},
      {'n', {"cat", "dog", "bird", "horse", "fox", "goat"}},
      {'h', {"will", "can", "must"}},
      {'v', {"chase", "see", "hear", "follow"}},
      {'t', {"today", "now", "soon"}}};
  for (const auto& [letter, words] : lists) {
    if (words.count(word)) return letter;
  }
  return '?';
}

// "dnhvdnt" for a statement, with adjectives left out.
std::string pattern(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    if (kind(word) != 'a') text += kind(word);
  }
  return text;
}

const std::map<SentenceForm, std::string> patterns = {{SentenceForm::statement, "dnhvdnt"},
                                                      {SentenceForm::question, "hdnvdnt"},
                                                      {SentenceForm::time_first, "tdnhvdn"},
                                                      {SentenceForm::object_first, "dndnhvt"},
                                                      {SentenceForm::verb_first, "vdndnht"}};

}  // namespace

TEST_CASE("the order of the words is the form, and nothing else is", "[phase6][text]") {
  const SentenceForms task;
  Random random(1);
  std::map<SentenceForm, int> forms;
  std::map<SentenceForm, std::map<std::string, int>> words;
  for (int i = 0; i < 3000; ++i) {
    const FormSentence one = task.sentence(i % 2 ? Part::train : Part::held_out, random);
    CHECK(pattern(one.words) == patterns.at(one.form));
    CHECK((one.words.size() >= 7 && one.words.size() <= 9));
    ++forms[one.form];
    for (const std::string& word : one.words) ++words[one.form][word];
  }
  CHECK(forms.size() == 5);
  CHECK(sentence_forms == 5);
  for (const auto& [form, count] : forms) {
    CHECK(std::abs(count - 600) < 5 * 22);
    const int wills = words[form]["will"];  // one in three, in every form
    CHECK(std::abs(wills - count / 3) < 5 * 12);
  }
}

TEST_CASE("sentences of the same words are all held out, or none is", "[phase6][text]") {
  const SentenceForms task;
  std::set<Words> parts[2];
  for (const Part part : {Part::train, Part::held_out}) {
    Random random(part == Part::train ? 1 : 2);
    for (int i = 0; i < 3000; ++i) {
      Words words = task.sentence(part, random).words;
      std::sort(words.begin(), words.end());
      parts[part == Part::train].insert(words);
    }
  }
  CHECK(parts[0].size() > 1000);
  for (const Words& words : parts[0]) CHECK(parts[1].count(words) == 0);
}

TEST_CASE("a batch of forms has ids, lengths and the right answers", "[phase6][text]") {
  const SentenceForms task;
  const FormBatch batch =
      task.batch({{split_words("the cat will see a dog now"), SentenceForm::statement},
                  {split_words("see a big dog this cat can now"), SentenceForm::verb_first}});
  CHECK(batch.ids.shape == Shape{2, 8});
  CHECK(task.vocabulary().decode(batch.ids) ==
        "the cat will see a dog now <pad> see a big dog this cat can now");
  CHECK(batch.lengths == std::vector<Index>{7, 8});
  CHECK(batch.forms.shape == Shape{2});
  CHECK(batch.forms.values == std::vector<std::int32_t>{0, 4});
  CHECK(task.vocabulary().size() == 28);
  Random random(5), again(5);
  CHECK(task.batch(Part::train, 9, random).ids.values ==
        task.batch(Part::train, 9, again).ids.values);
  const FormBatch drawn = task.batch(Part::held_out, 3, random);
  std::vector<FormSentence> one_by_one;
  for (int i = 0; i < 3; ++i) one_by_one.push_back(task.sentence(Part::held_out, again));
  CHECK(drawn.ids.shape[0] == 3);
  CHECK(drawn.ids.values == task.batch(one_by_one).ids.values);
  CHECK(task.batch(Part::train, 1, random).lengths.size() == 1);
  CHECK(complaint([&] { task.batch(Part::train, 0, random); },
                  {"sentence forms: a batch needs 1 row or more, not 0"}) == "");
}

TEST_CASE("forms have names", "[phase6][text]") {
  CHECK(to_string(SentenceForm::statement) == "statement");
  CHECK(to_string(SentenceForm::question) == "question");
  CHECK(to_string(SentenceForm::object_first) == "object first");
  CHECK(to_string(SentenceForm::time_first) == "time first");
  CHECK(to_string(SentenceForm::verb_first) == "verb first");
}

TEST_CASE("rows of forms are filled up with <pad>", "[phase6][text]") {
  const SentenceForms task;
  const FormBatch batch = task.batch({{split_words("see a dog"), SentenceForm::verb_first},
                                      {split_words("the cat will see"), SentenceForm::statement}});
  const FormBatch wide = padded(batch, 6);
  CHECK(wide.ids.shape == Shape{2, 6});
  CHECK(task.vocabulary().decode(wide.ids) ==
        "see a dog <pad> <pad> <pad> the cat will see <pad> <pad>");
  CHECK(wide.lengths == batch.lengths);
  CHECK(wide.forms.values == batch.forms.values);
  CHECK(padded(batch, 4).ids.values == batch.ids.values);
  CHECK(complaint([&] { padded(batch, 3); }, {"rows of 4 words do not fit into 3"}) == "");
}

TEST_CASE("the first word tells three forms, and one of the other two", "[phase6][text]") {
  const SentenceForms task;
  const auto told = [&](const char* text, SentenceForm form) {
    return task.first_word_alone(task.batch({{split_words(text), form}}));
  };
  CHECK(told("will the cat see a dog now", SentenceForm::question) == 1);
  CHECK(told("now the cat will see a dog", SentenceForm::time_first) == 1);
  CHECK(told("see a dog the cat will now", SentenceForm::verb_first) == 1);
  CHECK(told("the cat will see a dog now", SentenceForm::statement) +
            told("the dog the cat will see now", SentenceForm::object_first) ==
        1);
  CHECK(told("the cat will see a dog now", SentenceForm::question) == 0);
}

TEST_CASE("in half of the sentences subject and object are the same noun", "[phase6][text]") {
  const SentenceForms task;
  Random random(3);
  const FormBatch batch = task.same_nouns(3000, random);
  CHECK(batch.ids.shape == Shape{3000, 7});
  CHECK(batch.lengths == std::vector<Index>(3000, 7));
  std::map<std::pair<std::string, std::string>, int> pairs;
  int same = 0;
  for (std::size_t row = 0; row < 3000; ++row) {
    const auto word = [&](std::size_t i) {
      return task.vocabulary().word(batch.ids.values[row * 7 + i]);
    };
    CHECK((word(0) + word(2) + word(3) + word(4) + word(6)) == "thewillchasethetoday");
    CHECK((word(1) == word(5)) == (batch.forms.values[row] == 1));
    same += batch.forms.values[row];
    ++pairs[{word(1), word(5)}];
  }
  CHECK(std::abs(same - 1500) < 5 * 28);
  CHECK(pairs.size() == 36);
  for (const auto& [nouns, count] : pairs) {
    const int expected = nouns.first == nouns.second ? 250 : 50;
    CHECK(std::abs(count - expected) < 5 * std::sqrt(expected));
  }
  CHECK(complaint([&] { task.same_nouns(0, random); },
                  {"sentence forms: a batch needs 1 row or more, not 0"}) == "");
}
