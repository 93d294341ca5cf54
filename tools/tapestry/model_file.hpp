// A model in a file together with its words: what the sub-commands read and write.
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

// Reads a model of any program that names its words. Where the file does not say how the model was
// fed, it is guessed, and a line on standard error says so. Throws Error that tells what the file
// is, if it is no such model.
ModelFile read_model(const std::filesystem::path& path);

// A text as the model reads it, <bos> included if it was fed so.
struct Reading {
  Indices ids;       // (length)
  Words labels;      // one for each id, printable
  std::string text;  // all labels, to be printed
};

// Throws Error for an empty text, one beyond the model's length or 1024 words, and a word that the
// model does not know, naming the closest one.
Reading read_text_for(const ModelFile& file, const std::string& text);

// The word as it can be printed and drawn: blanks and line ends become visible signs.
std::string printable(const std::string& word);

// "2 layers, 4 heads each, width 64, 96 words, decoder, fed with <bos>, says the next word"
std::string description(const ModelFile& file);

// The head's matrix (queries, keys) out of weights or scores (1, heads, queries, keys); likewise
// (length, width) out of queries, keys or values.
Tensor of_head(const Tensor& captured, Index head);

// Throws Error unless there is such a layer and such a head.
void check_layer(const ModelFile& file, Index layer);
void check_head(const ModelFile& file, Index head);

}  // namespace tapestry::command
