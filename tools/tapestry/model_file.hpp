// A model file with its vocabulary, as the sub-commands read and write it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "model.hpp"
#include "tapestry/text/feeding.hpp"

namespace tapestry::command {

using Metadata = std::map<std::string, std::string>;

struct ModelFile {
  std::filesystem::path path;
  Model model;
  Vocabulary vocabulary;
  Feeding feeding;
};

// Reads a model with a vocabulary, from any program. If the file lacks the input format, it is
// guessed, with a warning on standard error. Throws an Error that says what the file is, if it is
// no such model.
ModelFile read_model(const std::filesystem::path& path);

// A text as the model's input, with <bos> if it was trained so.
struct Reading {
  Indices ids;       // (length)
  Words labels;      // one for each id, printable
  std::string text;  // all labels, to be printed
};

// Throws Error for an empty text, one beyond the model's length or 1024 words, and an unknown word,
// naming the closest one.
Reading read_text_for(const ModelFile& file, const std::string& text);

// The word in printable form: blanks and line ends become visible characters.
std::string printable(const std::string& word);

// "2 layers, 4 heads each, width 64, 96 words, decoder, input with <bos>, predicts the next word"
std::string description(const ModelFile& file);

// The head's matrix (queries, keys) from weights or scores (1, heads, queries, keys); likewise
// (length, width) from queries, keys or values.
Tensor of_head(const Tensor& captured, Index head);

// Throws Error unless there is such a layer and such a head.
void check_layer(const ModelFile& file, Index layer);
void check_head(const ModelFile& file, Index head);

}  // namespace tapestry::command
