// What analyze, why, cut and the like ask: a model with the words of its texts, from a checkpoint
// or from a folder as Hugging Face lays it out.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "commands.hpp"
#include "model.hpp"
#include "model_file.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/input_format.hpp"

namespace tapestry::command {

struct Subject {
  Path path;
  Model model;
  Guess guess = Guess::other;
  std::string description = {};      // "2 layers, 4 heads each, ..., predicts the next word"
  std::string in_front = {};         // what its input begins with besides the text: "<bos>", or ""
  TransformerOptions limits = {};    // of texts, for check_length
  std::string unit = {};             // "words", "characters" or "tokens"
  bool spaced = true;                // blanks between its words, or tokens, where they are shown
  std::int32_t bos = -1, mask = -1;  // -1: it has none
  std::function<Indices(const std::string&)> encode =
      {};  // (length), any length, bos in front if so trained
  std::function<std::string(std::int32_t)> word = {};       // for people: no blanks, no line ends
  std::function<std::int32_t(const std::string&)> id = {};  // of one word, or -1
};

// The model that the options name. Throws Error unless they name one, and as reading it does.
Subject read_subject(const ModelOptions& options);

// The model of a file that was read, or is about to be written.
Subject subject_of(const std::shared_ptr<const ModelFile>& file);

// A text as the model's input, with <bos> if it was trained so.
struct Reading {
  Indices ids;       // (length)
  Words labels;      // one for each id, printable
  std::string text;  // all labels, to be printed
};

// Throws Error for an empty text, one beyond the model's length or 1024 words, and an unknown word,
// naming the closest one.
Reading read_text_for(const Subject& subject, const std::string& text);

// What a layer shows to a text's queries: its window, if any, and in a decoder nothing later.
Mask mask_of(const MultiHeadAttention& attention);

// The head's matrix (queries, keys) from weights or scores (1, heads, queries, keys); likewise
// (length, width) from queries, keys or values.
Tensor of_head(const Tensor& captured, Index head);

// Throws Error unless there is such a layer and such a head.
void check_layer(const Subject& subject, Index layer);
void check_head(const Subject& subject, Index head);

}  // namespace tapestry::command
