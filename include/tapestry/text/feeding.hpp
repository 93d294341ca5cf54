// What a model's file tells of texts: the model's words, and how it was fed, so that a program that
// reads the file can feed it in the same way.
//
//   const Batch batch = next_word_batch(vocabulary, texts);  // one of those that it learned from
//   write_transformer("model.safetensors", model, to_metadata(vocabulary, batch));
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tapestry/text/batch.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// What a model says at a position.
enum class Guess {
  next_word,    // the word after it
  hidden_word,  // the one in whose place <mask> stands
  other,        // neither: it says no word of the text
};

struct Feeding {
  bool bos = false;  // <bos> stands before each text
  Guess guess = Guess::next_word;
};

// How a batch feeds a model, by its rows: bos if each begins with <bos>; hidden_word if <mask>
// stands at each position with a target; next_word if each target is the next word of its row,
// where the row does not end. Throws Error if inputs and targets are not both (rows, length), or
// there is no target.
Feeding feeding_of(const Batch& batch);

// Words and feeding as text, for the metadata of a file ("words" -> "cat dog ...", "words.unit" ->
// "word" or "character", "feeding.bos" -> "true", "feeding.guess" -> "next word"). `batch` is any
// of those that the model learned from. Throws Error as feeding_of does.
std::map<std::string, std::string> to_metadata(const Vocabulary& vocabulary, const Batch& batch);

// The words back; what to do with unknown words is not kept. Throws Error where the metadata names
// no words or makes no sense.
Vocabulary vocabulary_in(const std::map<std::string, std::string>& metadata);

// The feeding back; nothing if the metadata does not tell. Throws Error where it makes no sense.
std::optional<Feeding> feeding_in(const std::map<std::string, std::string>& metadata);

}  // namespace tapestry
