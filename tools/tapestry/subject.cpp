#include "subject.hpp"

#include <algorithm>

#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/models/architecture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/tokenizer.hpp"
#include "tapestry/unicode.hpp"
#include "token_text.hpp"

namespace tapestry::command {
namespace {

const char* says(Guess guess) {
  return guess == Guess::next_word     ? "predicts the next word"
         : guess == Guess::hidden_word ? "predicts hidden words"
                                       : "predicts no word of the text";
}

std::string described(const Subject& subject) {
  const TransformerOptions& o = subject.model.options();
  return (subject.model.is_one_head()
              ? "a single head"
              : std::to_string(o.num_layers) + (o.num_layers == 1 ? " layer, " : " layers, ") +
                    std::to_string(o.num_heads) + (o.num_heads == 1 ? " head" : " heads") +
                    " each") +
         ", width " + std::to_string(o.d_model) + ", vocabulary of " +
         std::to_string(o.vocab_size) + " " + subject.unit +
         (o.is_causal ? ", decoder" : ", encoder") + ", input " +
         (subject.in_front.empty() ? "without <bos>" : "with " + subject.in_front) + ", " +
         says(subject.guess);
}

// ---- A folder

// In one line: "␣the", and "↵" for a line end.
std::string in_line(std::string bytes) {
  for (std::size_t at = 0; (at = bytes.find('\n', at)) != std::string::npos;) {
    bytes.replace(at, 1, "↵");
  }
  return shown(bytes);
}

std::string token_text(const Tokenizer& tokenizer, std::int32_t id) {
  if (!tokenizer.contains(id)) return "#" + std::to_string(id);
  const std::string bytes = tokenizer.bytes_of(id);
  return bytes.empty() ? printable(tokenizer.token(id)) : in_line(bytes);
}

bool is_byte(const std::string& token) { return token.size() == 6 && token.starts_with("<0x"); }

// "the" and " the" are two tokens: the special token, or the one that a text of it becomes, or the
// first that is shown so ("␣the"); or -1.
std::int32_t token_of(const Tokenizer& tokenizer, const std::string& word) {
  if (tokenizer.contains(word) && tokenizer.is_special(tokenizer.id(word))) {
    return tokenizer.id(word);
  }
  const Indices ids = tokenizer.encode(word, false);
  if (ids.values.size() == 1) return ids.values.front();
  const std::string sought = in_line(word);
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    if (!tokenizer.contains(id) || is_byte(tokenizer.token(id))) continue;
    if (token_text(tokenizer, id) == sought) return id;
  }
  return -1;
}

Indices encoded(const Tokenizer& tokenizer, const TransformerOptions& options,
                const std::string& text) {
  check_utf8(text);
  if (text.empty()) throw Error("the text is empty: give one, as in --text \"the cat\".");
  const Indices ids = tokenizer.encode(text);
  check_belongs(tokenizer, ids, options.vocab_size);
  if (ids.values.empty()) {
    throw Error("the text has no token of the model: give another one with --text.");
  }
  return ids;
}

Subject of_folder(const Path& path, const Path& adapters) {
  const Tokenizer tokenizer = read_tokenizer(path);
  Subject subject{path, Model(read_folder(path, adapters))};
  const TransformerOptions options = subject.model.options();
  subject.unit = "tokens";
  if (options.has_logits) subject.guess = options.is_causal ? Guess::next_word : Guess::hidden_word;
  if (!tokenizer.front().empty()) subject.bos = tokenizer.front().front();
  if (tokenizer.contains("[MASK]")) subject.mask = tokenizer.id("[MASK]");
  subject.encode = [tokenizer, options](const std::string& text) {
    return encoded(tokenizer, options, text);
  };
  subject.word = [tokenizer](std::int32_t id) { return token_text(tokenizer, id); };
  subject.id = [tokenizer](const std::string& word) { return token_of(tokenizer, word); };
  subject.limits = options;
  subject.limits.positions = Positions::learned;  // rotary ones go on, but this was not trained
  subject.in_front =
      special_in_front(tokenizer, Indices({std::ssize(tokenizer.front())}, tokenizer.front()));
  subject.description = described(subject);
  if (!adapters.empty()) subject.description += ", with the adapters of " + adapters.string();
  return subject;
}

}  // namespace

Subject subject_of(const std::shared_ptr<const ModelFile>& file) {
  Subject subject{file->path, file->model};
  subject.guess = file->format.guess;
  subject.unit = file->vocabulary.by_characters() ? "characters" : "words";
  subject.spaced = !file->vocabulary.by_characters();
  if (file->format.bos) subject.bos = Vocabulary::bos;
  subject.mask = Vocabulary::mask;
  subject.encode = [file](const std::string& text) { return ids_of_text(*file, text); };
  subject.word = [file](std::int32_t id) { return printable(file->vocabulary.word(id)); };
  subject.id = [file](const std::string& word) {
    return file->vocabulary.contains(word) ? file->vocabulary.id(word) : -1;
  };
  subject.limits = subject.model.options();
  subject.in_front = file->format.bos ? "<bos>" : "";
  subject.description = described(subject);
  return subject;
}

Subject read_subject(const ModelOptions& options) {
  if (!options.checkpoint.empty()) {
    return subject_of(std::make_shared<const ModelFile>(read_model(options.checkpoint)));
  }
  if (!options.model.empty()) return of_folder(options.model, options.adapters);
  throw Error("--checkpoint is required, or --model.");
}

Reading read_text_for(const Subject& subject, const std::string& text) {
  Reading reading{subject.encode(text), {}, {}};
  check_length(subject.limits, reading.ids.shape[0], subject.unit, subject.in_front);
  for (const std::int32_t id : reading.ids.values) {
    reading.labels.push_back(subject.word(id));
    reading.text += (subject.spaced && !reading.text.empty() ? " " : "") + reading.labels.back();
  }
  return reading;
}

Mask mask_of(const MultiHeadAttention& attention) {
  const Mask mask = attention.is_causal ? Mask::causal() : Mask();
  return attention.window > 0 ? Mask::local(attention.window - 1) & mask : mask;
}

Tensor of_head(const Tensor& captured, Index head) {
  return squeeze(slice(squeeze(captured, 0), 0, head, head + 1), 0);
}

void check_layer(const Subject& subject, Index layer) {
  const Index layers = subject.model.options().num_layers;
  if (layer >= 0 && layer < layers) return;
  if (layers == 0) throw Error("the model has no layers, and so no attention.");
  throw Error("there is no layer " + std::to_string(layer) + ": the model's are 0 to " +
              std::to_string(layers - 1) + ".");
}

void check_head(const Subject& subject, Index head) {
  const Index heads = subject.model.options().num_heads;
  if (head >= 0 && head < heads) return;
  throw Error("there is no head " + std::to_string(head) + ": those of each layer are 0 " + "to " +
              std::to_string(heads - 1) + ".");
}

}  // namespace tapestry::command
