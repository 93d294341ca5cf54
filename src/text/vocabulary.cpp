#include "tapestry/text/vocabulary.hpp"

#include <algorithm>
#include <utility>

#include "tapestry/error.hpp"
#include "text/closest.hpp"

namespace tapestry {
namespace {

// For messages, which are one short line.
std::string in_quotes(std::string_view word) {
  constexpr std::size_t most = 60;
  std::string text(word.substr(0, most));
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return static_cast<unsigned char>(letter) < ' '; }, '?');
  return "'" + text + (word.size() > most ? "...'" : "'");
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

Vocabulary::Vocabulary(const Words& words, UnknownWord unknown)
    : words_{"<pad>", "<bos>", "<eos>", "<mask>", "<unk>"}, unknown_(unknown) {
  for (std::int32_t i = 0; i < size(); ++i) ids_[words_[static_cast<std::size_t>(i)]] = i;
  for (const std::string& word : words) {
    if (split_words(word) != Words{word}) {
      throw Error("vocabulary: " + in_quotes(word) +
                  " is not a word: it must be lower-case, without blanks, and not empty.");
    }
    if (ids_.try_emplace(word, size()).second) words_.push_back(word);
  }
}

std::int32_t Vocabulary::id(std::string_view word) const {
  if (const auto found = ids_.find(word); found != ids_.end()) return found->second;
  if (unknown_ == UnknownWord::replace) return unk;
  const std::string similar = closest(word, words_);
  throw Error("vocabulary: " + in_quotes(word) + " is not one of the " + std::to_string(size()) +
              " words." +
              (similar.empty() ? " UnknownWord::replace would take <unk>."
                               : " Did you mean '" + similar + "'?"));
}

const std::string& Vocabulary::word(std::int32_t id) const {
  if (id < 0 || id >= size()) {
    throw Error("vocabulary: id " + std::to_string(id) + " is not one of the " +
                std::to_string(size()) + " words (0 to " + std::to_string(size() - 1) + ").");
  }
  return words_[static_cast<std::size_t>(id)];
}

Indices Vocabulary::ids(const Words& words) const {
  std::vector<std::int32_t> values;
  for (const std::string& word : words) values.push_back(id(word));
  const Shape shape = {static_cast<Index>(values.size())};
  return Indices(shape, std::move(values));
}

Indices Vocabulary::ids(std::string_view text) const { return ids(split_words(text)); }

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

std::string Vocabulary::text(const Indices& ids) const {
  std::string text;
  for (const std::int32_t id : ids.values) {
    if (!text.empty()) text += ' ';
    text += word(id);
  }
  return text;
}

}  // namespace tapestry
