// The vocabulary: words, or single characters, and their ids.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

using Words = std::vector<std::string>;

// The words of a text between white space, with A-Z made lower-case: "The cat" -> {"the", "cat"}.
[[nodiscard]] Words split_words(std::string_view text);

// The code points of a text, one string each: "né" -> {"n", "é"}. Nothing is made lower-case.
// Throws Error for text that is not UTF-8, with its first wrong byte.
[[nodiscard]] Words split_characters(std::string_view text);

// What to do with a word that is not in the vocabulary.
enum class UnknownWord {
  refuse,   // throw Error, which names the closest known word
  replace,  // take <unk>
};

// Five special words come first and always have the same ids; then the words given, in order.
class Vocabulary {
 public:
  static constexpr std::int32_t pad = 0;   // <pad>: pads short rows of a batch
  static constexpr std::int32_t bos = 1;   // <bos>: before the first word
  static constexpr std::int32_t eos = 2;   // <eos>: after the last word
  static constexpr std::int32_t mask = 3;  // <mask>: a word to predict
  static constexpr std::int32_t unk = 4;   // <unk>: any unknown word

  // A repeated word, or one of the special ones, keeps its first id. Throws Error for a word that
  // split_words cannot give: empty, with a blank, or with a capital letter.
  explicit Vocabulary(const Words& words, UnknownWord unknown = UnknownWord::refuse);

  // A vocabulary whose words are single characters: those of `text`, each once, by code point. Its
  // encode and decode go character by character, blanks and line ends included. Throws Error
  // for text that is not UTF-8.
  [[nodiscard]] static Vocabulary of_characters(std::string_view text,
                                                UnknownWord unknown = UnknownWord::refuse);

  std::int32_t size() const { return static_cast<std::int32_t>(words_.size()); }
  const Words& words() const { return words_; }  // by id, special words included
  bool by_characters() const { return unit_ == Unit::character; }
  [[nodiscard]] bool contains(std::string_view word) const { return ids_.find(word) != ids_.end(); }

  // Throws Error for a word not in the vocabulary, unless <unk> replaces it.
  [[nodiscard]] std::int32_t id(std::string_view word) const;

  // Throws Error for an id without a word.
  [[nodiscard]] const std::string& word(std::int32_t id) const;

  // Shape (number of words); of a text those of split_words(text), or of its characters.
  [[nodiscard]] Indices encode(const Words& words) const;
  [[nodiscard]] Indices encode(std::string_view text) const;

  // One row per text, (texts, longest), short ones padded with <pad>.
  [[nodiscard]] Indices batch(const std::vector<Words>& texts) const;

  // The words of all ids in row-major order with a blank between them; characters without.
  [[nodiscard]] std::string decode(const Indices& ids) const;

 private:
  enum class Unit { word, character };
  Vocabulary(Unit unit, UnknownWord unknown);
  void add(std::string_view word);

  Unit unit_;
  Words words_;
  std::map<std::string, std::int32_t, std::less<>> ids_;
  UnknownWord unknown_;
};

}  // namespace tapestry
