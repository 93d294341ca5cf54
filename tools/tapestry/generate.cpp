// `tapestry generate`: texts from a decoder, word after word.
#include <algorithm>

#include "commands.hpp"
#include "model_file.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/ops.hpp"

namespace tapestry::command {
namespace {

// Reads the last words again for each new one: as many as the model has positions, after <bos> if
// it was trained so.
NextLogits next_logits_of(const ModelFile& file) {
  return [&file](const Indices& ids) {
    const TransformerOptions& options = file.model.options();
    const Index most = options.positions == Positions::learned ? options.max_length : 1024;
    Indices last = ids;
    if (ids.shape[0] > most) {
      last.values.erase(last.values.begin(), last.values.end() - most);
      if (file.feeding.bos) last.values.front() = Vocabulary::bos;
      last.shape = {most};
    }
    return squeeze(slice(file.model(last), 0, -1, last.shape[0]), 0);
  };
}

Indices prompt(const ModelFile& file, const std::string& text) {
  const bool empty =
      split_words(text).empty() && !(file.vocabulary.by_characters() && !text.empty());
  if (!empty) return read_text_for(file, text).ids;
  if (file.feeding.bos) return Indices({1}, {Vocabulary::bos});
  throw Error("this model needs a prompt: give one with --text \"...\".");
}

void check_writes(const ModelFile& file) {
  const bool hidden = file.feeding.guess == Guess::hidden_word && !file.vocabulary.by_characters();
  if (!file.model.options().is_causal) {
    throw Error(
        "the model is an encoder: it sees all words at once and cannot generate. Use: tapestry "
        "analyze " +
        shell_option("--checkpoint", file.path.string()) + " " +
        shell_option("--text", file.vocabulary.words().at(hidden ? Vocabulary::mask
                                                                 : file.vocabulary.size() - 1)));
  }
  if (file.feeding.guess != Guess::next_word) {
    throw Error("the model was not trained to predict the next word, so it cannot generate.");
  }
}

// Control characters are replaced, since a terminal would obey them; line ends stay.
std::string shown(const ModelFile& file, const Indices& ids) {
  std::string text;
  for (const std::int32_t id : ids.values) {
    if (id == Vocabulary::bos || id == Vocabulary::eos) continue;
    const std::string& word = file.vocabulary.word(id);
    if (file.vocabulary.by_characters()) {
      text += word == "\n" || word == " " || word == "\t" ? word : printable(word);
    } else {
      text += (text.empty() ? "" : " ") + printable(word);
    }
  }
  return file.vocabulary.by_characters() ? text : folded(text, 0);
}

}  // namespace

void generate(const GenerateOptions& options) {
  const ModelFile file = read_model(options.checkpoint);
  check_writes(file);
  const Indices begin = prompt(file, options.text);
  GenerationOptions how;
  how.sampling = {options.temperature, options.top_k, options.top_p};
  how.max_new_tokens = options.length >= 0               ? options.length
                       : file.vocabulary.by_characters() ? 200
                                                         : 20;
  how.eos = Vocabulary::eos;
  const NextLogits next_logits = next_logits_of(file);
  for (Index i = 0; i < options.count; ++i) {
    Random random(std::uint64_t(options.seed), std::uint64_t(i));
    const Indices ids = tapestry::generate(next_logits, begin, random, how);
    print("%s%s\n", shown(file, ids).c_str(),
          file.vocabulary.by_characters() && i + 1 < options.count ? "\n" : "");
  }
}

}  // namespace tapestry::command
