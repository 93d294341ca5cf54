#include "model_file.hpp"

#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "text/closest.hpp"
#include "unicode.hpp"

namespace tapestry::command {
namespace {

// For a file that is a safetensors file but no transformer.
[[noreturn]] void refuse(const std::filesystem::path& path, const Safetensors& file) {
  constexpr std::size_t shown = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, file.tensors.size()); ++i) {
    names += (i > 0 ? ", " : "") + in_quotes(file.tensors[i].name);
  }
  if (file.tensors.size() > shown) names += ", ...";
  const auto step = file.metadata.find("step");
  throw Error(path.string() + " holds no transformer, but " + std::to_string(file.tensors.size()) +
              " tensors (" + names + ")" +
              (step == file.metadata.end() ? "" : " of step " + in_quotes(step->second)) +
              ", without the options of a model. `tapestry plot` draws them.");
}

ModelFile make_model(const std::filesystem::path& path, const Safetensors& file) {
  Transformer model = to_transformer(file);
  Vocabulary vocabulary = vocabulary_in(file.metadata);
  if (vocabulary.size() != model.options.vocabulary) {
    throw Error("the file names " + std::to_string(vocabulary.size()) +
                " words, but its model has " + std::to_string(model.options.vocabulary) + ".");
  }
  return {path, file.metadata, std::move(model), std::move(vocabulary)};
}

}  // namespace

ModelFile read_model(const std::filesystem::path& path) {
  const Safetensors file = read_checkpoint(path).weights;
  if (!file.metadata.contains("transformer.vocabulary")) refuse(path, file);
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

// Texts by words are learned with <bos> before them, if the next word is to be guessed.
bool begins_with_bos(const ModelFile& file) {
  return file.model.options.causal && !file.vocabulary.by_characters();
}

Reading read_text_for(const ModelFile& file, const std::string& text) {
  constexpr std::size_t most = 1024;
  Words words = file.vocabulary.by_characters() ? split_characters(text) : split_words(text);
  if (words.empty()) throw Error("the text is empty: say what to read, as in --text \"the cat\".");
  for (const std::string& word : words) {
    if (file.vocabulary.contains(word)) continue;
    const std::string similar = closest(word, file.vocabulary.words());
    throw Error(
        in_quotes(word) + " is none of the " + std::to_string(file.vocabulary.size()) +
        (file.vocabulary.by_characters() ? " characters" : " words") + " that the model knows." +
        (similar.empty() || file.vocabulary.by_characters() ? ""
                                                            : " Did you mean '" + similar + "'?"));
  }
  if (begins_with_bos(file) && words.front() != "<bos>") words.insert(words.begin(), "<bos>");
  const TransformerOptions& options = file.model.options;
  const bool any = options.positions != Positions::learned;
  const std::size_t longest = any ? most : std::min<std::size_t>(most, std::size_t(options.length));
  if (words.size() > longest) {
    throw Error("the text has " + std::to_string(words.size()) + " words, " +
                (begins_with_bos(file) ? "<bos> included, " : "") + "but at most " +
                std::to_string(longest) + " can be read.");
  }
  Reading reading{file.vocabulary.ids(words), {}, {}};
  for (const std::string& word : words) {
    reading.labels.push_back(printable(word));
    reading.text +=
        (file.vocabulary.by_characters() || reading.text.empty() ? "" : " ") + printable(word);
  }
  return reading;
}

std::string description(const ModelFile& file) {
  const TransformerOptions& o = file.model.options;
  return std::to_string(o.layers) + (o.layers == 1 ? " layer, " : " layers, ") +
         std::to_string(o.heads) + (o.heads == 1 ? " head" : " heads") + " each, width " +
         std::to_string(o.d_model) + ", " + std::to_string(o.vocabulary) +
         (file.vocabulary.by_characters() ? " characters, " : " words, ") +
         (o.causal ? "decoder" : "encoder");
}

Tensor of_head(const Tensor& captured, Index head) {
  return squeeze(slice(squeeze(captured, 0), 0, head, head + 1), 0);
}

void check_layer(const ModelFile& file, Index layer) {
  const Index layers = file.model.options.layers;
  if (layer >= 0 && layer < layers) return;
  if (layers == 0) throw Error("the model has no layers, so there is nothing to look at.");
  throw Error("there is no layer " + std::to_string(layer) + ": the model's are numbered 0 to " +
              std::to_string(layers - 1) + ".");
}

void check_head(const ModelFile& file, Index head) {
  const Index heads = file.model.options.heads;
  if (head >= 0 && head < heads) return;
  throw Error("there is no head " + std::to_string(head) + ": those of each layer are numbered 0 " +
              "to " + std::to_string(heads - 1) + ".");
}

}  // namespace tapestry::command
