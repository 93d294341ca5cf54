#include "model_file.hpp"

#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/grammar.hpp"
#include "tapestry/text/tasks.hpp"
#include "text/closest.hpp"
#include "unicode.hpp"

namespace tapestry::command {
namespace {

const char* const words_key = "words";
const char* const unit_key = "words.unit";  // "word" or "character"
const char* const bos_key = "words.bos";    // "true" or "false"

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

std::string entry(const Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

Vocabulary vocabulary_in(const Metadata& metadata) {
  const std::string text = entry(metadata, words_key), unit = entry(metadata, unit_key);
  if (unit == "character") return Vocabulary::of_characters(text);
  if (unit == "word") return Vocabulary(split_words(text));
  throw Error("the file's entry 'words.unit' is " + in_quotes(unit) +
              ", but must be word or character.");
}

// Files of the lessons name no words, but theirs are known by their number.
Vocabulary vocabulary_of_size(Index size, std::string& assumed) {
  const std::string begin = "the file names no words; its " + std::to_string(size) + " ";
  const Vocabulary grammar(Grammar().words());
  if (size == grammar.size()) {
    assumed = begin + "are taken for the grammar's";
    return grammar;
  }
  constexpr Index others = 6;  // special words and =>
  if (size >= others + 2 && size <= others + 26) {
    assumed = begin + "are taken for those of a tiny task";
    return TinyTask(TaskKind::copy, {.letters = size - others, .shortest = 7}).vocabulary();
  }
  throw Error(begin + "fit neither the grammar (" + std::to_string(grammar.size()) +
              ") nor a tiny task (8 to 32). `tapestry train` writes files that name them.");
}

ModelFile make_model(const std::filesystem::path& path, const Safetensors& file) {
  Transformer model = to_transformer(file);
  std::string assumed;
  const bool named = file.metadata.contains(words_key);
  Vocabulary vocabulary =
      named ? vocabulary_in(file.metadata) : vocabulary_of_size(model.options.vocabulary, assumed);
  if (vocabulary.size() != model.options.vocabulary) {
    throw Error("the file names " + std::to_string(vocabulary.size()) +
                " words, but its model has " + std::to_string(model.options.vocabulary) + ".");
  }
  const bool bos = named ? entry(file.metadata, bos_key) == "true" : model.options.causal;
  const bool characters = entry(file.metadata, unit_key) == "character";
  return {path, file.metadata, std::move(model), std::move(vocabulary), characters, bos, assumed};
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

Metadata words_metadata(const Vocabulary& vocabulary, bool by_characters, bool begins_with_bos) {
  std::string words;
  for (std::size_t i = 5; i < vocabulary.words().size(); ++i) {  // after the special ones
    words += (by_characters || words.empty() ? "" : " ") + vocabulary.words()[i];
  }
  return {{words_key, words},
          {unit_key, by_characters ? "character" : "word"},
          {bos_key, begins_with_bos ? "true" : "false"}};
}

std::string printable(const std::string& word) {
  if (word == " ") return "␣";
  if (word == "\n") return "↵";
  std::string safe = in_quotes(word);
  return safe.substr(1, safe.size() - 2);
}

Reading read_text_for(const ModelFile& file, const std::string& text) {
  constexpr std::size_t most = 1024;
  Words words = file.by_characters ? split_characters(text) : split_words(text);
  if (words.empty()) throw Error("the text is empty: say what to read, as in --text \"the cat\".");
  for (const std::string& word : words) {
    if (file.vocabulary.contains(word)) continue;
    const std::string similar = closest(word, file.vocabulary.words());
    throw Error(in_quotes(word) + " is none of the " + std::to_string(file.vocabulary.size()) +
                (file.by_characters ? " characters" : " words") + " that the model knows." +
                (similar.empty() || file.by_characters ? "" : " Did you mean '" + similar + "'?"));
  }
  if (file.begins_with_bos && words.front() != "<bos>") words.insert(words.begin(), "<bos>");
  const TransformerOptions& options = file.model.options;
  const bool any = options.positions != Positions::learned;
  const std::size_t longest = any ? most : std::min<std::size_t>(most, std::size_t(options.length));
  if (words.size() > longest) {
    throw Error("the text has " + std::to_string(words.size()) + " words, " +
                (file.begins_with_bos ? "<bos> included, " : "") + "but at most " +
                std::to_string(longest) + " can be read.");
  }
  Reading reading{file.vocabulary.ids(words), {}, {}};
  for (const std::string& word : words) {
    reading.labels.push_back(printable(word));
    reading.text += (file.by_characters || reading.text.empty() ? "" : " ") + printable(word);
  }
  return reading;
}

std::string description(const ModelFile& file) {
  const TransformerOptions& o = file.model.options;
  return std::to_string(o.layers) + (o.layers == 1 ? " layer, " : " layers, ") +
         std::to_string(o.heads) + (o.heads == 1 ? " head" : " heads") + " each, width " +
         std::to_string(o.d_model) + ", " + std::to_string(o.vocabulary) +
         (file.by_characters ? " characters, " : " words, ") + (o.causal ? "decoder" : "encoder");
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
