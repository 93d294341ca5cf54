#include "tapestry/text/vocabulary.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {

namespace {

template <class Visit>
void for_each_character(std::string_view text, Visit visit) {
  check_utf8(text);
  while (!text.empty()) {
    const std::size_t bytes = code_point_bytes(text);
    visit(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
}

}  // namespace

Words split_words(std::string_view text) {
  Words words;
  bool inside = false;
  for (const char letter : text) {
    const bool blank = letter == ' ' || (letter >= '\t' && letter <= '\r');
    if (!blank && !inside) words.emplace_back();
    if (!blank) {
      const bool capital = letter >= 'A' && letter <= 'Z';
      words.back() += capital ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    inside = !blank;
  }
  return words;
}

Words split_characters(std::string_view text) {
  Words characters;
  for_each_character(text, [&](std::string_view character) { characters.emplace_back(character); });
  return characters;
}

Vocabulary::Vocabulary(Unit unit, UnknownWord unknown) : unit_(unit), unknown_(unknown) {
  for (const char* word : {"<pad>", "<bos>", "<eos>", "<mask>", "<unk>"}) add(word);
}

Vocabulary::Vocabulary(const Words& words, UnknownWord unknown) : Vocabulary(Unit::word, unknown) {
  for (const std::string& word : words) {
    if (split_words(word) != Words{word}) {
      throw Error("vocabulary: " + in_quotes(word) +
                  " is not a word: it must be lower-case, without blanks, and not empty.");
    }
    add(word);
  }
}

Vocabulary Vocabulary::of_characters(std::string_view text, UnknownWord unknown) {
  std::set<std::string_view> characters;  // the order of bytes is that of code points
  for_each_character(text, [&](std::string_view character) { characters.insert(character); });
  Vocabulary vocabulary(Unit::character, unknown);
  for (const std::string_view character : characters) vocabulary.add(character);
  return vocabulary;
}

void Vocabulary::add(std::string_view word) {
  if (ids_.try_emplace(std::string(word), size()).second) words_.emplace_back(word);
}

std::int32_t Vocabulary::id(std::string_view word) const {
  if (const auto found = ids_.find(word); found != ids_.end()) return found->second;
  if (unknown_ == UnknownWord::replace) return unk;
  const std::string similar = unit_ == Unit::word ? closest(word, words_) : "";
  throw Error("vocabulary: " + in_quotes(word) + " is not one of the " + std::to_string(size()) +
              " words." +
              (similar.empty() ? " UnknownWord::replace gives <unk>."
                               : " Did you mean " + in_quotes(similar) + "?"));
}

const std::string& Vocabulary::word(std::int32_t id) const {
  if (id < 0 || id >= size()) {
    throw Error("vocabulary: id " + std::to_string(id) + " is not one of the " +
                std::to_string(size()) + " words (0 to " + std::to_string(size() - 1) + ").");
  }
  return words_[static_cast<std::size_t>(id)];
}

Indices Vocabulary::encode(const Words& words) const {
  std::vector<std::int32_t> values;
  for (const std::string& word : words) values.push_back(id(word));
  const Shape shape = {static_cast<Index>(values.size())};
  return Indices(shape, std::move(values));
}

Indices Vocabulary::encode(std::string_view text) const {
  if (unit_ == Unit::word) return encode(split_words(text));
  std::vector<std::int32_t> values;
  for_each_character(text, [&](std::string_view letter) { values.push_back(id(letter)); });
  const Shape shape = {static_cast<Index>(values.size())};
  return Indices(shape, std::move(values));
}

Indices Vocabulary::batch(const std::vector<Words>& texts) const {
  std::size_t longest = 0;
  for (const Words& words : texts) longest = std::max(longest, words.size());
  std::vector<std::int32_t> values(texts.size() * longest, pad);
  for (std::size_t row = 0; row < texts.size(); ++row) {
    for (std::size_t i = 0; i < texts[row].size(); ++i) {
      values[row * longest + i] = id(texts[row][i]);
    }
  }
  const Shape shape = {static_cast<Index>(texts.size()), static_cast<Index>(longest)};
  return Indices(shape, std::move(values));
}

std::string Vocabulary::decode(const Indices& ids) const {
  std::string text;
  for (const std::int32_t id : ids.values) {
    if (unit_ == Unit::word && !text.empty()) text += ' ';
    text += word(id);
  }
  return text;
}

}  // namespace tapestry
