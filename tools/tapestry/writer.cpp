#include "writer.hpp"

#include <algorithm>
#include <memory>

#include "model_file.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/text/tokenizer.hpp"
#include "tapestry/unicode.hpp"
#include "token_text.hpp"

namespace tapestry::command {
namespace {

// ---- A checkpoint

Indices prompt_for(const ModelFile& file, const std::string& text) {
  const bool empty =
      split_words(text).empty() && !(file.vocabulary.by_characters() && !text.empty());
  if (!empty) {
    const Indices ids = ids_of_text(file, text);
    check_length(file.model.options(), ids.shape[0],
                 file.vocabulary.by_characters() ? "characters" : "words",
                 file.format.bos ? "<bos>" : "");
    return ids;
  }
  if (file.format.bos) return Indices({1}, {Vocabulary::bos});
  throw Error("this model needs a prompt: give one with --text \"...\".");
}

void check_writes(const ModelFile& file) {
  const bool hidden = file.format.guess == Guess::hidden_word && !file.vocabulary.by_characters();
  if (!file.model.options().is_causal) {
    throw Error(
        "the model is an encoder: it sees all words at once and cannot generate. Use: tapestry "
        "analyze " +
        shell_option("--checkpoint", file.path.string()) + " " +
        shell_option("--text", file.vocabulary.words().at(hidden ? Vocabulary::mask
                                                                 : file.vocabulary.size() - 1)));
  }
  if (file.format.guess != Guess::next_word) {
    throw Error("the model was not trained to predict the next word, so it cannot generate.");
  }
}

std::string bytes_of_word(const Vocabulary& vocabulary, std::int32_t id, bool first) {
  if (id == Vocabulary::bos || id == Vocabulary::eos) return "";
  const std::string& word = vocabulary.word(id);
  if (!vocabulary.by_characters()) return (first ? "" : " ") + printable(word);
  return word == "\n" || word == " " || word == "\t" ? word : printable(word);
}

// ---- A folder

struct Folder {
  Transformer model;
  Tokenizer tokenizer;
  std::vector<std::int32_t> ends;  // the ids that its configs end a text with
};

void check_writes(const Path& folder, const TransformerOptions& options) {
  if (!options.is_causal) {
    throw Error(folder.string() +
                ": the model is an encoder: it sees all words at once and cannot "
                "generate.");
  }
  if (!options.has_logits) {
    throw Error(folder.string() + ": the model has no map to words, so it cannot generate.");
  }
}

Indices prompt_for(const Folder& folder, const std::string& text) {
  check_utf8(text);
  Indices ids = folder.tokenizer.encode(text);
  if (ids.values.empty() && folder.tokenizer.bos()) ids = Indices({1}, {*folder.tokenizer.bos()});
  if (ids.values.empty()) {
    throw Error("this model needs a prompt: give one with --text \"...\".");
  }
  const TransformerOptions& options = folder.model.options;
  check_belongs(folder.tokenizer, ids, folder.model.options.vocab_size);
  if (ids.shape[0] > options.max_length) {
    throw Error("the prompt has " + std::to_string(ids.shape[0]) + " tokens, but the model has " +
                std::to_string(options.max_length) + " positions: shorten it.");
  }
  return ids;
}

// A text ends, too, where a new one begins.
bool ends_text(const Folder& folder, std::int32_t id) {
  const auto among = [id](const std::vector<std::int32_t>& ids) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  const bool ends = folder.ends.empty() ? id == folder.tokenizer.eos() : among(folder.ends);
  return ends || id == folder.tokenizer.bos() || among(folder.tokenizer.front());
}

}  // namespace

Writer writer_of_checkpoint(const Path& checkpoint, const std::string& prompt) {
  const auto file = std::make_shared<const ModelFile>(read_model(checkpoint));
  check_writes(*file);
  const TransformerOptions& options = file->model.options();
  const Index positions = options.positions == Positions::learned ? options.max_length : 1024;
  const bool letters = file->vocabulary.by_characters();
  Writer writer;
  writer.prompt = prompt_for(*file, prompt);
  writer.begin = [file, positions] {
    return next_logits_of(file->model.transformer(), positions,
                          file->format.bos ? Vocabulary::bos : -1);
  };
  writer.bytes_of = [file](std::int32_t id, bool first) {
    return bytes_of_word(file->vocabulary, id, first);
  };
  writer.ends = [](std::int32_t id) { return id == Vocabulary::eos; };
  writer.length = letters ? 200 : 20;
  writer.folds = !letters;
  writer.reports = false;
  return writer;
}

Writer writer_of_folder(const Path& path, const Path& adapters, const std::string& prompt) {
  const Tokenizer tokenizer = read_tokenizer(path);
  const auto folder =
      std::make_shared<const Folder>(Folder{read_folder(path, adapters), tokenizer, eos_ids(path)});
  check_writes(path, folder->model.options);
  const Index positions = folder->model.options.max_length;
  Writer writer;
  writer.prompt = prompt_for(*folder, prompt);
  writer.in_front = special_in_front(tokenizer, writer.prompt);
  writer.begin = [folder, positions] { return next_logits_of(folder->model, positions); };
  writer.bytes_of = [folder](std::int32_t id, bool first) {
    const Tokenizer& known = folder->tokenizer;
    return known.contains(id) ? known.bytes_of(id, first) : std::string("\uFFFD");
  };
  writer.ends = [folder](std::int32_t id) { return ends_text(*folder, id); };
  writer.length = std::min<Index>(256, std::max<Index>(1, positions - writer.prompt.shape[0]));
  writer.folds = false;
  writer.reports = true;
  return writer;
}

}  // namespace tapestry::command
