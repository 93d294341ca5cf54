// The vocabulary of a model and the format of its inputs, as metadata of its file, so that a
// program that reads the file can give it inputs in the same form.
//
//   const Batch batch = next_word_batch(vocabulary, texts);  // a batch of its training
//   write_transformer("model.safetensors", model, to_metadata(vocabulary, batch));
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tapestry/text/batch.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// What a model predicts at a position.
enum class Guess {
  next_word,    // the word after it
  hidden_word,  // the word that <mask> replaces
  other,        // neither: no word of the text
};

struct InputFormat {
  bool bos = false;  // <bos> comes before each text
  Guess guess = Guess::next_word;
};

// The input format of a batch, from its rows: bos if each begins with <bos>; hidden_word if <mask>
// is at each position with a target; next_word if each target is the next word of its row, where
// the row does not end. Throws Error if inputs and targets are not both (rows, length), or there is
// no target.
[[nodiscard]] InputFormat input_format_of(const Batch& batch);

// Vocabulary and input format as text, for the metadata of a file ("words" -> "cat dog ...",
// "words.unit" -> "word" or "character", "feeding.bos" -> "true", "feeding.guess" -> "next word").
// `batch` is any batch that the model was trained on. Throws Error as input_format_of does.
[[nodiscard]] std::map<std::string, std::string> to_metadata(const Vocabulary& vocabulary,
                                                             const Batch& batch);

// The vocabulary from the metadata; what to do with unknown words is not kept. Throws Error if the
// metadata names no words or is not valid.
[[nodiscard]] Vocabulary vocabulary_in(const std::map<std::string, std::string>& metadata);

// The input format from the metadata, if it is there. Throws Error if it is not valid.
[[nodiscard]] std::optional<InputFormat> input_format_in(
    const std::map<std::string, std::string>& metadata);

}  // namespace tapestry
