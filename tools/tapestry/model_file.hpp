// A model in a file together with its words: what the sub-commands read and write.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tapestry/nn/transformer.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry::command {

using Metadata = std::map<std::string, std::string>;

struct ModelFile {
  std::filesystem::path path;
  Metadata metadata;
  Transformer model;
  Vocabulary vocabulary;
};

// Reads a transformer of any program that names its words. Throws Error that tells what the file
// is, if it is no such model.
ModelFile read_model(const std::filesystem::path& path);

// True if the model's texts have <bos> before them: those of a decoder that reads words.
bool begins_with_bos(const ModelFile& file);

// A text as the model reads it, <bos> included.
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

// "2 layers, 4 heads, width 64, 96 words, decoder"
std::string description(const ModelFile& file);

// The head's matrix (queries, keys) out of weights or scores (1, heads, queries, keys); likewise
// (length, width) out of queries, keys or values.
Tensor of_head(const Tensor& captured, Index head);

// Throws Error unless there is such a layer and such a head.
void check_layer(const ModelFile& file, Index layer);
void check_head(const ModelFile& file, Index head);

}  // namespace tapestry::command
