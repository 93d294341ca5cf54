#include "model_file.hpp"

#include <algorithm>

#include "screen.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

// The default input format: for decoders of words that of next_word_batch.
InputFormat guessed(const std::filesystem::path& path, bool causal, bool by_characters) {
  const InputFormat format{causal && !by_characters,
                           causal ? Guess::next_word : Guess::hidden_word};
  warn(path.string() + " lacks the format of the model's input; texts are read " +
       (format.bos ? "with" : "without") + " <bos> before them.");
  return format;
}

ModelFile make_model(const std::filesystem::path& path, const Safetensors& file) {
  Model model = to_model(file);
  Vocabulary vocabulary = vocabulary_in(file.metadata);
  const TransformerOptions& options = model.options();
  if (vocabulary.size() != options.vocab_size) {
    throw Error("the file names " + std::to_string(vocabulary.size()) +
                " words, but its model has " + std::to_string(options.vocab_size) + ".");
  }
  const std::optional<InputFormat> said = input_format_in(file.metadata);
  const InputFormat format =
      said ? *said : guessed(path, options.is_causal, vocabulary.by_characters());
  return {path, std::move(model), std::move(vocabulary), format};
}

void check_known(const Vocabulary& vocabulary, const std::string& word) {
  if (vocabulary.contains(word)) return;
  const bool by_characters = vocabulary.by_characters();
  const std::string similar = by_characters ? "" : closest(word, vocabulary.words());
  const std::string way_out = !similar.empty() ? " Did you mean '" + similar + "'?"
                              : !by_characters ? " Write a blank between words."
                                               : "";
  throw Error(in_quotes(word) + " is none of the " + std::to_string(vocabulary.size()) +
              (by_characters ? " characters" : " words") + " of the model." + way_out);
}

}  // namespace

ModelFile read_model(const std::filesystem::path& path) {
  const Safetensors file = read_checkpoint(path).weights;
  try {
    return make_model(path, file);
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

void check_length(const TransformerOptions& options, Index length, const std::string& unit,
                  const std::string& in_front) {
  constexpr Index most = 1024;
  const bool any = options.positions != Positions::learned;
  const Index longest = any ? most : std::min(most, options.max_length);
  if (length <= longest) return;
  throw Error("the text has " + std::to_string(length) + " " + unit + ", " +
              (in_front.empty() ? "" : in_front + " included, ") + "but at most " +
              std::to_string(longest) + " can be read" +
              (longest < most ? ": the model has no more positions." : "."));
}

Indices ids_of_text(const ModelFile& file, const std::string& text) {
  const bool by_characters = file.vocabulary.by_characters();
  Words words = by_characters ? split_characters(text) : split_words(text);
  if (words.empty()) throw Error("the text is empty: give one, as in --text \"the cat\".");
  for (const std::string& word : words) check_known(file.vocabulary, word);
  if (file.format.bos && words.front() != "<bos>") words.insert(words.begin(), "<bos>");
  return file.vocabulary.encode(words);
}

}  // namespace tapestry::command
