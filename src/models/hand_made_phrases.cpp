// What phrases mean, as matrices.
#include <cmath>

#include "models/hand_made_checks.hpp"
#include "tapestry/closest.hpp"
#include "tapestry/error.hpp"
#include "tapestry/models/hand_made.hpp"
#include "tapestry/text/vocabulary.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry {
namespace {

// Queries and keys of width k, all zeros.
struct Scores {
  Tensor query, key;  // (d_model, k)
  double s;           // of a query, so that 1 in the key makes a score of the sharpness

  Scores(const HandMadeOptions& options, Index k)
      : query(Tensor::zeros({columns_of(options).d_model(), k})),
        key(Tensor::zeros({columns_of(options).d_model(), k})),
        s(options.sharpness * std::sqrt(static_cast<double>(k))) {}
};

// The query at i asks for position i - 1.
Scores of_previous_word(const HandMadeOptions& o, const HandMadeColumns& at) {
  Scores map(o, at.max_length);
  for (Index i = 0; i < at.max_length; ++i) {
    if (i > 0) map.query.set({at.position(i), i - 1}, map.s);
    map.key.set({at.position(i), i}, 1);
  }
  return map;
}

// Every query asks for the same, and only position 0 has it.
Scores of_first_word(const HandMadeOptions& o, const HandMadeColumns& at) {
  Scores map(o, 1);
  for (Index i = 0; i < at.max_length; ++i) map.query.set({at.position(i), 0}, map.s);
  map.key.set({at.position(0), 0}, 1);
  return map;
}

// The query asks for its word, and by half as much not for its own position.
Scores of_same_word(const HandMadeOptions& o, const HandMadeColumns& at) {
  Scores map(o, at.vocab_size + at.max_length);
  for (Index i = 0; i < at.max_length; ++i) {
    map.query.set({at.position(i), at.vocab_size + i}, -map.s / 2);
    map.key.set({at.position(i), at.vocab_size + i}, 1);
  }
  for (Index w = 0; w < at.vocab_size; ++w) {
    map.query.set({at.word(w), w}, map.s);
    map.key.set({at.word(w), w}, 1);
  }
  return map;
}

// The query asks for its word among the words before the keys. At position 0 there is no word
// before: layer 0 sees its own word there. With a beginning no query asks for that one, and the
// last column is where to rest; else the key is set against every word.
Scores of_what_followed(const HandMadeOptions& o, const HandMadeColumns& at) {
  const bool rests = o.bos >= 0;
  Scores map(o, at.vocab_size + (rests ? 1 : 0));
  for (Index w = 0; w < at.vocab_size; ++w) {
    map.query.set({at.word(w), w}, map.s);
    map.key.set({at.found(Phrase::previous_word, w), w}, 1);
    if (!rests) map.key.set({at.position(0), w}, -1);
  }
  for (Index i = 0; rests && i < at.max_length; ++i) {
    map.query.set({at.position(i), at.vocab_size}, map.s / 2);
  }
  if (rests) map.key.set({at.position(0), at.vocab_size}, 1);
  return map;
}

Scores scores_of(Phrase phrase, const HandMadeOptions& options) {
  const HandMadeColumns at = columns_of(options);
  switch (phrase) {
    case Phrase::previous_word:
      return of_previous_word(options, at);
    case Phrase::first_word:
      return of_first_word(options, at);
    case Phrase::same_word:
      return of_same_word(options, at);
    case Phrase::what_followed:
      break;
  }
  return of_what_followed(options, at);
}

}  // namespace

std::string to_string(Phrase phrase) {
  switch (phrase) {
    case Phrase::previous_word:
      return "previous word";
    case Phrase::first_word:
      return "first word";
    case Phrase::same_word:
      return "same word";
    case Phrase::what_followed:
      return "what followed the same word";
  }
  return "";
}

Phrase phrase_of(std::string_view text) {
  std::string words, known;
  for (const std::string& word : split_words(text)) words += (words.empty() ? "" : " ") + word;
  std::vector<std::string> phrases;
  for (const Phrase phrase : all_phrases) {
    if (to_string(phrase) == words) return phrase;
    phrases.push_back(to_string(phrase));
    known += (known.empty() ? "" : ", ") + in_quotes(phrases.back());
  }
  const std::string similar = closest(words, phrases);
  throw Error("hand-made head: " + in_quotes(text) + " is not a phrase; there are " + known + "." +
              (similar.empty() ? "" : " Did you mean " + in_quotes(similar) + "?"));
}

HandMadeColumns columns_of(const HandMadeOptions& options) {
  return {options.vocab_size, options.max_length};
}

HandMadeMatrices matrices_of(Phrase phrase, const HandMadeOptions& options) {
  check_hand_made(options);
  const HandMadeColumns at = columns_of(options);
  Scores map = scores_of(phrase, options);
  // (d_model, k) twice, (d_model, v) and (v, d_model), where v is vocab_size
  HandMadeMatrices head{map.query, map.key, Tensor::zeros({at.d_model(), at.vocab_size}),
                        Tensor::zeros({at.vocab_size, at.d_model()})};
  for (Index w = 0; w < at.vocab_size; ++w) {
    const bool is_nothing = phrase == Phrase::what_followed && w == options.bos;
    head.value.set({at.word(w), w}, is_nothing ? 0 : 1);
    head.output.set({w, at.found(phrase, w)}, 1);
  }
  return head;
}

}  // namespace tapestry
