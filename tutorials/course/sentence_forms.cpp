#include "course/sentence_forms.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "course/held_out.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

using namespace std::string_view_literals;
using List = std::span<const std::string_view>;

constexpr auto determiners = std::array{"the"sv, "a"sv, "this"sv};
constexpr auto adjectives = std::array{"small"sv, "big"sv, "brown"sv, "wild"sv};
constexpr auto nouns = std::array{"cat"sv, "dog"sv, "bird"sv, "horse"sv, "fox"sv, "goat"sv};
constexpr auto helpers = std::array{"will"sv, "can"sv, "must"sv};
constexpr auto verbs = std::array{"chase"sv, "see"sv, "hear"sv, "follow"sv};
constexpr auto times = std::array{"today"sv, "now"sv, "soon"sv};

std::string draw(List list, Random& random) {
  const Index place = random.randint(static_cast<Index>(list.size()));
  return std::string(list[static_cast<std::size_t>(place)]);
}

struct Parts {
  Words subject, helper, verb, object, time;
};

Words draw_phrase(Random& random) {
  Words phrase = {draw(determiners, random)};
  if (random.randint(2) == 0) phrase.push_back(draw(adjectives, random));
  phrase.push_back(draw(nouns, random));
  return phrase;
}

Parts draw_parts(Random& random) {
  Parts parts;
  parts.subject = draw_phrase(random);
  parts.helper = {draw(helpers, random)};
  parts.verb = {draw(verbs, random)};
  parts.object = draw_phrase(random);
  parts.time = {draw(times, random)};
  return parts;
}

Words joined(std::initializer_list<const Words*> parts) {
  Words words;
  for (const Words* part : parts) words.insert(words.end(), part->begin(), part->end());
  return words;
}

Words arranged(const Parts& p, SentenceForm form) {
  switch (form) {
    case SentenceForm::statement:
      return joined({&p.subject, &p.helper, &p.verb, &p.object, &p.time});
    case SentenceForm::question:
      return joined({&p.helper, &p.subject, &p.verb, &p.object, &p.time});
    case SentenceForm::time_first:
      return joined({&p.time, &p.subject, &p.helper, &p.verb, &p.object});
    case SentenceForm::object_first:
      return joined({&p.object, &p.subject, &p.helper, &p.verb, &p.time});
    case SentenceForm::verb_first:
      return joined({&p.verb, &p.object, &p.subject, &p.helper, &p.time});
  }
  return {};
}

// The same for all sentences that have these words, whoever does it to whom.
bool parts_held_out(const Parts& parts) {
  Words words = arranged(parts, SentenceForm::statement);
  std::sort(words.begin(), words.end());
  return is_held_out(words);
}

void check_rows(Index rows) {
  if (rows < 1) {
    throw Error("sentence forms: a batch needs 1 row or more, not " + std::to_string(rows) + ".");
  }
}

Words all_words() {
  Words words;
  for (const List list : {List(determiners), List(adjectives), List(nouns), List(helpers),
                          List(verbs), List(times)}) {
    words.insert(words.end(), list.begin(), list.end());
  }
  return words;
}

}  // namespace

std::string to_string(SentenceForm form) {
  constexpr auto names =
      std::array{"statement"sv, "question"sv, "time first"sv, "object first"sv, "verb first"sv};
  return std::string(names.at(static_cast<std::size_t>(form)));
}

FormBatch padded(const FormBatch& batch, Index length) {
  const Index rows = batch.ids.shape[0], before = batch.ids.shape[1];
  if (length < before) {
    throw Error("sentence forms: rows of " + std::to_string(before) + " words do not fit into " +
                std::to_string(length) + ".");
  }
  std::vector<std::int32_t> ids;
  for (auto row = batch.ids.values.begin(); row != batch.ids.values.end(); row += before) {
    ids.insert(ids.end(), row, row + before);
    ids.insert(ids.end(), length - before, Vocabulary::pad);
  }
  return {Indices({rows, length}, std::move(ids)), batch.lengths, batch.forms};
}

SentenceForms::SentenceForms() : vocabulary_(all_words()) {}

FormSentence SentenceForms::sentence(Part part, Random& random) const {
  while (true) {  // ends: there are many thousand sentences, one in ten of them held out
    const Parts parts = draw_parts(random);
    if (parts_held_out(parts) != (part == Part::held_out)) continue;
    const auto form = static_cast<SentenceForm>(random.randint(sentence_forms));
    return {arranged(parts, form), form};
  }
}

FormBatch SentenceForms::batch(Part part, Index rows, Random& random) const {
  check_rows(rows);
  std::vector<FormSentence> sentences;
  for (Index row = 0; row < rows; ++row) sentences.push_back(sentence(part, random));
  return batch(sentences);
}

FormBatch SentenceForms::batch(const std::vector<FormSentence>& sentences) const {
  std::vector<Words> texts;
  std::vector<Index> lengths;
  std::vector<std::int32_t> forms;
  for (const FormSentence& sentence : sentences) {
    texts.push_back(sentence.words);
    lengths.push_back(static_cast<Index>(sentence.words.size()));
    forms.push_back(static_cast<std::int32_t>(sentence.form));
  }
  const Shape shape = {static_cast<Index>(forms.size())};
  return {vocabulary_.batch(texts), lengths, Indices(shape, std::move(forms))};
}

double SentenceForms::first_word_alone(const FormBatch& test) const {
  Tensor counts = Tensor::zeros({vocabulary_.size(), sentence_forms});  // (words, forms)
  Random random(78);
  for (int i = 0; i < 20000; ++i) {
    const FormSentence one = sentence(Part::train, random);
    const Index first = vocabulary_.id(one.words.front()), form = static_cast<Index>(one.form);
    counts.set({first, form}, double{counts.at({first, form})} + 1);
  }
  // (rows, forms)
  return accuracy(squeeze(slice(embedding(counts, test.ids), 1, 0, 1), 1), test.forms);
}

FormBatch SentenceForms::same_nouns(Index rows, Random& random) const {
  check_rows(rows);
  std::vector<Words> texts;
  std::vector<std::int32_t> same;
  for (Index row = 0; row < rows; ++row) {
    same.push_back(static_cast<std::int32_t>(random.randint(2)));
    const Index subject = random.randint(6), other = (subject + 1 + random.randint(5)) % 6;
    const Index object = same.back() == 1 ? subject : other;
    texts.push_back({"the", std::string(nouns[subject]), "will", "chase", "the",
                     std::string(nouns[object]), "today"});
  }
  return {vocabulary_.batch(texts), std::vector<Index>(rows, 7), Indices({rows}, std::move(same))};
}

}  // namespace tapestry
