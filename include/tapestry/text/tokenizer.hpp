// Text to ids of tokens and back, exactly as the tokenizer files that models come with say it.
//
//   const Tokenizer tokenizer = read_tokenizer("models/gpt2");
//   const Indices ids = tokenizer.encode("Once upon a time");    // (4)
//   tokenizer.decode(ids.values);                                // "Once upon a time"
//
// A text goes through these steps, each of which a file may leave out: added tokens are cut out;
// the rest is normalised, and cut into pieces; byte-pair encoding or WordPiece makes tokens of each
// piece; special tokens are put in front and behind.
//
// A text may be any bytes. One that is not part of valid UTF-8 is a character of its own, neither
// letter nor digit nor blank. A model that has tokens for bytes keeps it, so that decode gives the
// same text again; for others it is unknown, and BERT's normalizer removes it. Letters, digits,
// blanks, cases and normal forms are those of Unicode 15.0: what that had not assigned is not
// assigned.
//
// One known difference: BERT's normalizer removes all characters for private use, as BERT's own
// program does; Hugging Face's tokenizers remove only the first and last of each range of them.
// And they know several versions of Unicode (seen in 0.23): letters and digits of patterns, and
// cases, are those of 16.0, normal forms and the marks of StripAccents those of 9.0, and
// punctuation and BERT's marks and control characters those of 8.0. So characters that came or
// changed later differ: 166D is punctuation there, 1885 no mark, 32FF has no compatible form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

// A step of encoding, and the pieces that the text consists of after it (any bytes).
struct TokenizerStep {
  std::string name;  // "normalizer NFC", "merge 12"
  std::vector<std::string> pieces;
};

struct TokenizerTrace {
  std::vector<TokenizerStep> steps;                // of the whole text
  std::vector<std::vector<TokenizerStep>> pieces;  // of each piece: its symbols, then each merge
  Indices ids;                                     // (n), as encode gives them
};

struct TokenizerParts;

class Tokenizer {
 public:
  // From read_tokenizer, or byte_pair_tokenizer (byte_pairs.hpp). Copies share what they hold.
  explicit Tokenizer(std::shared_ptr<const TokenizerParts> parts);

  // The ids of a text, (n). With `add_special` those of front() and back() are around them.
  [[nodiscard]] Indices encode(std::string_view text, bool add_special = true) const;

  // The text of ids; without `skip_special` special tokens are in it, too. What they make is not
  // UTF-8 if the ids end within a character. Throws Error for an id without a token.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids,
                                   bool skip_special = true) const;

  // What one id adds to a text: nothing if it is special. `first`: no id that is not special came
  // before it; some tokenizers leave out a blank there. Those of all ids, one after the other, are
  // what decode gives, unless the decoder strips the end of a text (none in use does).
  [[nodiscard]] std::string bytes_of(std::int32_t id, bool first = false) const;

  [[nodiscard]] std::string kind() const;  // "byte-level BPE", "BPE of characters", "WordPiece"
  [[nodiscard]] Index size() const;        // all ids are below it; there may be gaps
  [[nodiscard]] bool contains(std::string_view token) const;
  [[nodiscard]] bool contains(std::int32_t id) const;
  [[nodiscard]] bool is_special(std::int32_t id) const;

  // The token as the file spells it. Both throw Error for one that is not there.
  [[nodiscard]] std::int32_t id(std::string_view token) const;
  [[nodiscard]] const std::string& token(std::int32_t id) const;

  // The special tokens that encode puts before and behind a text; most decoders have one in front,
  // GPT-2 none.
  [[nodiscard]] const std::vector<std::int32_t>& front() const;
  [[nodiscard]] const std::vector<std::int32_t>& back() const;

  // The tokens for the beginning and the end of a text: those that tokenizer_config.json names, or
  // else encode puts there, or else special ones of a usual name (<s>, </s>, <|endoftext|>, ...).
  [[nodiscard]] std::optional<std::int32_t> bos() const;
  [[nodiscard]] std::optional<std::int32_t> eos() const;

  // How `encode(text, add_special)` comes about. Throws Error for a text above 1000 bytes.
  [[nodiscard]] TokenizerTrace explain(std::string_view text, bool add_special = true) const;

 private:
  std::shared_ptr<const TokenizerParts> parts_;
};

// Reads tokenizer.json (types BPE and WordPiece), vocab.json with merges.txt beside it (byte-level
// BPE), vocab.txt (BERT's WordPiece; blank lines at its end are no tokens), or tokenizer.bin
// (llama2.c's): the file, or the first of them that the folder has.
//
// A tokenizer.json is taken as it is; of a tokenizer_config.json beside it only bos_token and
// eos_token count. Beside a vocab.json or vocab.txt it says how this is used: its tokenizer_class
// (that of GPT-2, which no class means, too, Qwen2 or RoBERTa; of BERT, DistilBERT or ELECTRA), its
// special tokens and switches. added_tokens.json adds tokens to these. Settings for batches
// (truncation, padding) are not applied.
//
// Throws Error for files that are damaged or contradict themselves, and names what it does not know
// or cannot do: a component or an option of tokenizer.json; a tokenizer_class; a special token that
// is not in the vocabulary; of tokenizer_config.json the options do_basic_tokenize, never_split,
// wordpieces_prefix, split_special_tokens, and Qwen2's add_prefix_space, if they are not as usual.
// Other names in tokenizer_config.json are not looked at.
[[nodiscard]] Tokenizer read_tokenizer(const std::filesystem::path& folder_or_file);

}  // namespace tapestry
