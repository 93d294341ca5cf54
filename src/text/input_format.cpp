#include "tapestry/text/input_format.hpp"

#include <algorithm>
#include <array>

#include "tapestry/error.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

const char* const words_key = "words";
const char* const unit_key = "words.unit";
const char* const bos_key = "feeding.bos";
const char* const guess_key = "feeding.guess";
constexpr std::array guess_names = {"next word", "hidden word", "other"};

[[noreturn]] void refuse(const char* key, const std::string& text, const char* rule) {
  throw Error("the file's entry '" + std::string(key) + "' is " + in_quotes(text) +
              ", but must be " + rule + ".");
}

bool all_begin_with_bos(const Indices& inputs) {
  for (Index row = 0; row < inputs.shape[0]; ++row) {
    if (inputs.values[std::size_t(row * inputs.shape[1])] != Vocabulary::bos) return false;
  }
  return true;
}

}  // namespace

InputFormat input_format_of(const Batch& batch) {
  const Indices &inputs = batch.inputs, &targets = batch.targets;
  if (inputs.shape.ndim() != 2 || inputs.shape != targets.shape) {
    throw Error("input_format_of: inputs are " + to_string(inputs.shape) + ", targets " +
                to_string(targets.shape) + ": both must be (rows, length).");
  }
  inputs.check("input_format_of");
  targets.check("input_format_of");
  bool asked = false, hidden = true, next = true;
  for (std::size_t at = 0; at < inputs.values.size(); ++at) {
    if (targets.values[at] < 0) continue;
    asked = true;
    hidden = hidden && inputs.values[at] == Vocabulary::mask;
    const bool last =
        (at + 1) % std::size_t(inputs.shape[1]) == 0 || inputs.values[at + 1] == Vocabulary::pad;
    next = next && (last || inputs.values[at + 1] == targets.values[at]);
  }
  if (!asked) {
    throw Error(
        "input_format_of: no position of the batch has a target, so it does not show what the "
        "model predicts. Give a batch of its training.");
  }
  return {all_begin_with_bos(inputs), hidden ? Guess::hidden_word
                                      : next ? Guess::next_word
                                             : Guess::other};
}

std::map<std::string, std::string> to_metadata(const Vocabulary& vocabulary, const Batch& batch) {
  const InputFormat format = input_format_of(batch);
  const bool by_characters = vocabulary.by_characters();
  std::string words;
  for (std::size_t i = Vocabulary::unk + 1; i < vocabulary.words().size(); ++i) {
    words += (by_characters || words.empty() ? "" : " ") + vocabulary.words()[i];
  }
  return {{words_key, words},
          {unit_key, by_characters ? "character" : "word"},
          {bos_key, format.bos ? "true" : "false"},
          {guess_key, guess_names[std::size_t(format.guess)]}};
}

Vocabulary vocabulary_in(const std::map<std::string, std::string>& metadata) {
  const auto words = metadata.find(words_key), unit = metadata.find(unit_key);
  if (words == metadata.end() || unit == metadata.end()) {
    throw Error(
        "the file names no words. Write it with to_metadata(vocabulary, batch), as the lessons and "
        "`tapestry train` do.");
  }
  if (unit->second == "character") return Vocabulary::of_characters(words->second);
  if (unit->second == "word") return Vocabulary(split_words(words->second));
  refuse(unit_key, unit->second, "word or character");
}

std::optional<InputFormat> input_format_in(const std::map<std::string, std::string>& metadata) {
  const auto bos = metadata.find(bos_key), guess = metadata.find(guess_key);
  if (bos == metadata.end() && guess == metadata.end()) return {};
  if (bos == metadata.end()) refuse(bos_key, "", "true or false");
  if (guess == metadata.end()) refuse(guess_key, "", "next word, hidden word or other");
  if (bos->second != "true" && bos->second != "false") {
    refuse(bos_key, bos->second, "true or false");
  }
  const auto named = std::ranges::find(guess_names, guess->second);
  if (named == guess_names.end()) {
    refuse(guess_key, guess->second, "next word, hidden word or other");
  }
  return InputFormat{bos->second == "true", Guess(named - guess_names.begin())};
}

}  // namespace tapestry
