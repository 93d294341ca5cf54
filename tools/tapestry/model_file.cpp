#include "model_file.hpp"

#include <algorithm>

#include "screen.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

// The default input format: for decoders of words that of next_word_batch.
Feeding guessed(const std::filesystem::path& path, bool causal, bool by_characters) {
  const Feeding feeding{causal && !by_characters, causal ? Guess::next_word : Guess::hidden_word};
  warn(path.string() + " lacks the format of the model's input; texts are read " +
       (feeding.bos ? "with" : "without") + " <bos> before them.");
  return feeding;
}

ModelFile make_model(const std::filesystem::path& path, const Safetensors& file) {
  Model model = to_model(file);
  Vocabulary vocabulary = vocabulary_in(file.metadata);
  const TransformerOptions& options = model.options();
  if (vocabulary.size() != options.vocab_size) {
    throw Error("the file names " + std::to_string(vocabulary.size()) +
                " words, but its model has " + std::to_string(options.vocab_size) + ".");
  }
  const std::optional<Feeding> said = feeding_in(file.metadata);
  const Feeding feeding =
      said ? *said : guessed(path, options.is_causal, vocabulary.by_characters());
  return {path, std::move(model), std::move(vocabulary), feeding};
}

void check_known(const Vocabulary& vocabulary, const std::string& word) {
  if (vocabulary.contains(word)) return;
  const bool by_characters = vocabulary.by_characters();
  const std::string similar = by_characters ? "" : closest(word, vocabulary.words());
  throw Error(in_quotes(word) + " is none of the " + std::to_string(vocabulary.size()) +
              (by_characters ? " characters" : " words") + " of the model." +
              (similar.empty() ? "" : " Did you mean '" + similar + "'?"));
}

void check_length(const ModelFile& file, std::size_t length) {
  constexpr std::size_t most = 1024;
  const TransformerOptions& options = file.model.options();
  const bool any = options.positions != Positions::learned;
  const std::size_t longest =
      any ? most : std::min<std::size_t>(most, std::size_t(options.max_length));
  if (length <= longest) return;
  throw Error("the text has " + std::to_string(length) +
              (file.vocabulary.by_characters() ? " characters, " : " words, ") +
              (file.feeding.bos ? "<bos> included, " : "") + "but at most " +
              std::to_string(longest) + " can be read" +
              (longest < most ? ": the model has no more positions." : "."));
}

const char* says(Guess guess) {
  return guess == Guess::next_word     ? "predicts the next word"
         : guess == Guess::hidden_word ? "predicts hidden words"
                                       : "predicts no word of the text";
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

std::string printable(const std::string& word) {
  if (word == " ") return "␣";
  if (word == "\n") return "↵";
  std::string safe = in_quotes(word);
  return safe.substr(1, safe.size() - 2);
}

Reading read_text_for(const ModelFile& file, const std::string& text) {
  Words words = file.vocabulary.by_characters() ? split_characters(text) : split_words(text);
  if (words.empty()) throw Error("the text is empty: give one, as in --text \"the cat\".");
  for (const std::string& word : words) check_known(file.vocabulary, word);
  if (file.feeding.bos && words.front() != "<bos>") words.insert(words.begin(), "<bos>");
  check_length(file, words.size());
  Reading reading{file.vocabulary.ids(words), {}, {}};
  for (const std::string& word : words) {
    reading.labels.push_back(printable(word));
    reading.text +=
        (file.vocabulary.by_characters() || reading.text.empty() ? "" : " ") + printable(word);
  }
  return reading;
}

std::string description(const ModelFile& file) {
  const TransformerOptions& o = file.model.options();
  return (file.model.is_one_head()
              ? "a single head"
              : std::to_string(o.num_layers) + (o.num_layers == 1 ? " layer, " : " layers, ") +
                    std::to_string(o.num_heads) + (o.num_heads == 1 ? " head" : " heads") +
                    " each") +
         ", width " + std::to_string(o.d_model) + ", " + std::to_string(o.vocab_size) +
         (file.vocabulary.by_characters() ? " characters, " : " words, ") +
         (o.is_causal ? "decoder" : "encoder") +
         (file.feeding.bos ? ", input with <bos>, " : ", input without <bos>, ") +
         says(file.feeding.guess);
}

Tensor of_head(const Tensor& captured, Index head) {
  return squeeze(slice(squeeze(captured, 0), 0, head, head + 1), 0);
}

void check_layer(const ModelFile& file, Index layer) {
  const Index layers = file.model.options().num_layers;
  if (layer >= 0 && layer < layers) return;
  if (layers == 0) throw Error("the model has no layers, and so no attention.");
  throw Error("there is no layer " + std::to_string(layer) + ": the model's are 0 to " +
              std::to_string(layers - 1) + ".");
}

void check_head(const ModelFile& file, Index head) {
  const Index heads = file.model.options().num_heads;
  if (head >= 0 && head < heads) return;
  throw Error("there is no head " + std::to_string(head) + ": those of each layer are 0 " + "to " +
              std::to_string(heads - 1) + ".");
}

}  // namespace tapestry::command
