// A transformer whose heads nobody trained: each does what a phrase says, or what matrices say.
//
//   const HandMadeOptions sizes{.vocab_size = 8, .max_length = 16};
//   const Transformer model = hand_made(sizes, {{0, 0, phrase_of("previous word")},
//                                               {1, 0, phrase_of("what followed the same word")}});
//   model(ids);  // continues "a b c a" with b: these two heads are induction (Olsson et al. 2022)
//
// It is an ordinary causal Transformer, without feed-forward layers: files, analyses and training
// take it as any other. What is special are its numbers. The residual stream has a column for each
// thing that a head may ask for, and is 1 or 0 there (HandMadeColumns).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tapestry/nn/transformer.hpp"

namespace tapestry {

// What a head finds, and what its scores are, of a query at position i. s: the sharpness. Of keys
// with equal scores each gets an equal weight, as softmax has it.
enum class Phrase {
  previous_word,  // key i - 1: s, others 0. Position 0 sees only itself
  first_word,     // key 0: s, others 0
  same_word,      // earlier keys with the word at i: s; itself: s / 2, for where there are none;
                  // others 0
  what_followed,  // keys behind an earlier copy of the word at i: s; others 0, key 0 as told below
};
inline constexpr std::array<Phrase, 4> all_phrases = {Phrase::previous_word, Phrase::first_word,
                                                      Phrase::same_word, Phrase::what_followed};

// "previous word", "first word", "same word", "what followed the same word"
[[nodiscard]] std::string to_string(Phrase phrase);

// The phrase of these words; A-Z and more blanks do not matter. Throws Error for any other text,
// with all phrases and the closest one.
[[nodiscard]] Phrase phrase_of(std::string_view text);

struct HandMadeOptions {
  Index vocab_size = 0, max_length = 0;  // words, and positions; must be given
  // By how much the score of a key that is looked for is above that of others, in [0, 1000]: with
  // 20 such a key gets all the weight, with 2 of eight keys half, with 0 all keys get the same.
  double sharpness = 20;
  double certainty = 10;  // the logit of a word that "what followed the same word" finds
  // The word that each text begins with and that does not come again, <bos>; -1: there is none.
  // Then key 0 is where "what followed the same word" rests (s / 2) if there was no such word, and
  // what it finds there is nothing: all logits are 0, each word has the same chance. Without such a
  // word it then looks at all keys alike but key 0 (-s), and predicts a mixture of their words.
  std::int32_t bos = -1;
};

// The columns of the residual stream. Embedding and positions write a 1 to `word` and `position`.
// A head copies the word that it finds to the columns of its phrase, `found`; two heads of one
// phrase add up. "What followed the same word" asks for `found(previous_word)`, and the logits for
// `found(what_followed)`. `constant` is 1000 at every position: an RMS norm divides a row by its
// root mean square, which this number keeps the same to a millionth, whatever the heads wrote; the
// norm's gain multiplies by just that, and `constant` by 0. So maps read what stands in the other
// columns, and the norms change nothing.
struct HandMadeColumns {
  Index vocab_size, max_length;

  [[nodiscard]] Index word(Index w) const { return w; }
  [[nodiscard]] Index position(Index i) const { return vocab_size + i; }
  [[nodiscard]] Index found(Phrase by, Index w) const {
    return vocab_size + max_length + static_cast<Index>(by) * vocab_size + w;
  }
  [[nodiscard]] Index constant() const { return 5 * vocab_size + max_length; }
  [[nodiscard]] Index d_model() const { return 5 * vocab_size + max_length + 1; }
};
[[nodiscard]] HandMadeColumns columns_of(const HandMadeOptions& options);

// The maps of one head, with widths k and v of its own. weights = softmax(x W_Q (x W_K)^T / sqrt k)
struct HandMadeMatrices {
  Tensor query = {}, key = {};  // (d_model, k)
  Tensor value = {};            // (d_model, v)
  Tensor output = {};           // (v, d_model)
};

// Those of a phrase. Throws Error as hand_made does for the options.
[[nodiscard]] HandMadeMatrices matrices_of(Phrase phrase, const HandMadeOptions& options);

// A head: a phrase, matrices, or a phrase of which some matrices are replaced. Without a phrase
// query and key are needed; a missing value is the word read, (d_model, vocab_size), and a missing
// output says that what was found comes next: number i of a value goes to found(what_followed, i).
struct HandMadeHead {
  Index layer = 0, head = 0;  // counted from 0
  std::optional<Phrase> phrase = {};
  HandMadeMatrices matrices = {};
};

// The model with these heads. It has as many layers as they name, and in each as many heads as the
// highest number says; those that are not named have weights of 0: they look at all keys alike and
// write nothing. All heads of a Transformer are equally wide: narrower ones are filled with zeros,
// and their queries multiplied by sqrt(d_k / k), so that their scores stay what they are.
// Throws Error for sizes below 1; a sharpness or certainty that is out of range; a `bos` that
// is no word; no heads, one that is named twice, a number outside 0 to 63; a layer without heads
// before the last; "what followed the same word" (with the key of the phrase) without "previous
// word" in an earlier layer; matrices that are missing, do not fit d_model or each other, or have
// NaN or infinities; and a model of more than 20 million numbers.
[[nodiscard]] Transformer hand_made(const HandMadeOptions& options,
                                    const std::vector<HandMadeHead>& heads);

}  // namespace tapestry
