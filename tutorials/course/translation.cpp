#include "course/translation.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "course/held_out.hpp"
#include "tapestry/error.hpp"

namespace tapestry {
namespace {

using namespace std::string_view_literals;

struct Entry {
  std::string_view source,
      target;  // the target of a noun is whole, its last letter tells its class
};

constexpr auto nouns = std::array<Entry, 8>{{{"cats", "gati"},
                                             {"birds", "uceli"},
                                             {"wolves", "lupi"},
                                             {"mice", "topi"},
                                             {"dogs", "kane"},
                                             {"horses", "kavale"},
                                             {"goats", "kapre"},
                                             {"bees", "ape"}}};
// Stems: an adjective adds the letter of a class, a verb that letter and n.
constexpr auto adjectives =
    std::array<Entry, 4>{{{"small", "pikol"}, {"old", "vek"}, {"black", "ner"}, {"fast", "svelt"}}};
constexpr auto verbs =
    std::array<Entry, 4>{{{"chase", "kac"}, {"see", "ved"}, {"hear", "od"}, {"follow", "seg"}}};
constexpr auto prepositions =
    std::array<Entry, 3>{{{"near", "visin"}, {"behind", "detro"}, {"under", "soto"}}};
constexpr auto classes = "ie"sv;

using List = std::span<const Entry>;

const Entry* find(List list, std::string_view word) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Entry& e) { return e.source == word; });
  return found == list.end() ? nullptr : &*found;
}

std::string draw(List list, Random& random) {
  const Index place = random.randint(static_cast<Index>(list.size()));
  return std::string(list[static_cast<std::size_t>(place)].source);
}

Words all_source_words() {
  Words words;
  for (const List list : {List(nouns), List(adjectives), List(verbs), List(prepositions)}) {
    for (const Entry& entry : list) words.emplace_back(entry.source);
  }
  return words;
}

Words all_target_words() {
  Words words;
  for (const Entry& noun : nouns) words.emplace_back(noun.target);
  for (const Entry& preposition : prepositions) words.emplace_back(preposition.target);
  for (const char letter : classes) {
    for (const Entry& entry : adjectives) words.push_back(std::string(entry.target) + letter);
    for (const Entry& entry : verbs) words.push_back(std::string(entry.target) + letter + 'n');
  }
  return words;
}

// Reads a sentence from left to right, and says each word as soon as the target language can.
class Translator {
 public:
  explicit Translator(const Words& source) : result_{source, {}, {}, {}} {}

  Translation run() {
    for (const std::string& word : result_.source) read(word);
    if (noun_due_ || verb_ == nullptr) refuse("it ends too early");
    say(std::string(verb_->target) + subject_letter_ + 'n', verb_at_, subject_at_);
    return result_;
  }

 private:
  void read(const std::string& word) {
    if (const Entry* noun = find(nouns, word); noun != nullptr) {
      if (!noun_due_) refuse("there is no place for \"" + word + "\"");
      read_noun(*noun);
    } else if (const Entry* one = find(adjectives, word); one != nullptr) {
      if (!noun_due_ || adjective_ != nullptr) refuse("there is no place for \"" + word + "\"");
      adjective_ = one, adjective_at_ = at_;
    } else {
      if (noun_due_) refuse("a noun is due, not \"" + word + "\"");
      if (const Entry* verb = find(verbs, word); verb != nullptr) {
        if (verb_ != nullptr) refuse("\"" + word + "\" is a second verb");
        verb_ = verb, verb_at_ = at_;
      } else {
        preposition_ = find(prepositions, word), preposition_at_ = at_;
        if (preposition_ == nullptr) refuse("there is no place for \"" + word + "\"");
      }
      noun_due_ = true;
    }
    ++at_;
  }

  void read_noun(const Entry& noun) {
    const char letter = noun.target.back();
    say(std::string(noun.target), at_, -1);
    if (adjective_ != nullptr) say(std::string(adjective_->target) + letter, adjective_at_, at_);
    if (preposition_ != nullptr) say(std::string(preposition_->target), preposition_at_, -1);
    if (subject_at_ < 0) subject_at_ = at_, subject_letter_ = letter;
    adjective_ = preposition_ = nullptr;
    noun_due_ = false;
  }

  void say(const std::string& word, Index from, Index ends_as) {
    result_.target.push_back(word);
    result_.from.push_back(from);
    result_.ends_as.push_back(ends_as);
  }

  [[noreturn]] void refuse(const std::string& rule) const {
    std::string text;
    for (const std::string& word : result_.source) text += (text.empty() ? "" : " ") + word;
    throw Error("translate: \"" + text + "\": " + rule +
                ". A sentence is: phrase verb phrase, a phrase [adjective] noun { preposition "
                "[adjective] noun }.");
  }

  Translation result_;
  const Entry *adjective_ = nullptr, *preposition_ = nullptr, *verb_ = nullptr;
  Index at_ = 0, adjective_at_ = -1, preposition_at_ = -1, verb_at_ = -1, subject_at_ = -1;
  char subject_letter_ = 'i';
  bool noun_due_ = true;
};

// 1 at (row, target word, source word) where the translation names that place.
Tensor places_of(const std::vector<Translation>& sentences,
                 std::vector<Index> Translation::* places, const Shape& shape) {
  Tensor result = Tensor::zeros(shape);  // (sentences, target words, source words)
  for (std::size_t row = 0; row < sentences.size(); ++row) {
    Index said = 0;
    for (const Index place : sentences[row].*places) {
      if (place >= 0) result.set({static_cast<Index>(row), said, place}, 1);
      ++said;
    }
  }
  return result;
}

// Some of the phrases belong to the subject, the others to the object.
Words draw_source(const TranslationSize& size, Random& random) {
  const Index phrases = size.fewest + random.randint(size.most - size.fewest + 1);
  const Index before_verb = 1 + random.randint(phrases - 1);
  Words words;
  for (Index i = 0; i < phrases; ++i) {
    if (i == before_verb) words.push_back(draw(verbs, random));
    if (i > 0 && i != before_verb) words.push_back(draw(prepositions, random));
    if (random.randint(2) == 0) words.push_back(draw(adjectives, random));
    words.push_back(draw(nouns, random));
  }
  return words;
}

}  // namespace

Translation translate(const Words& source) {
  static const Vocabulary known(all_source_words());
  for (const std::string& word : source) (void)known.id(word);
  return Translator(source).run();
}

TranslationTask::TranslationTask(TranslationSize size)
    : size_(size), source_(all_source_words()), target_(all_target_words()) {
  if (size.fewest < 2 || size.fewest > size.most || size.most > 100) {
    throw Error("translation task: sentences of " + std::to_string(size.fewest) + " to " +
                std::to_string(size.most) +
                " noun phrases: it must be 2 to 100, and the fewest not above the most.");
  }
}

Translation TranslationTask::sentence(Part part, Random& random) const {
  while (true) {  // ends: there are thousands of sentences of every size, in both parts
    const Words words = draw_source(size_, random);
    if (is_held_out(words) == (part == Part::held_out)) return translate(words);
  }
}

TranslationBatch TranslationTask::batch(Part part, Index rows, Random& random) const {
  if (rows < 1) {
    throw Error("translation task: a batch needs 1 row or more, not " + std::to_string(rows) + ".");
  }
  std::vector<Translation> sentences;
  for (Index row = 0; row < rows; ++row) sentences.push_back(sentence(part, random));
  return batch(sentences);
}

TranslationBatch TranslationTask::batch(const std::vector<Translation>& sentences) const {
  std::vector<Words> sources, targets;
  TranslationBatch batch;
  for (const Translation& sentence : sentences) {
    sources.push_back(sentence.source);
    targets.push_back(sentence.target);
    batch.source_lengths.push_back(static_cast<Index>(sentence.source.size()));
  }
  batch.source = source_.batch(sources);
  batch.target = next_word_batch(target_, targets);
  const Shape& target = batch.target.inputs.shape;
  const Shape shape = {target[0], target[1], batch.source.shape[1]};
  batch.from = places_of(sentences, &Translation::from, shape);
  batch.ends_as = places_of(sentences, &Translation::ends_as, shape);
  return batch;
}

}  // namespace tapestry
