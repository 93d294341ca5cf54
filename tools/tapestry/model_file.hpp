// A model file with its vocabulary, as the sub-commands read and write it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "model.hpp"
#include "tapestry/text/input_format.hpp"

namespace tapestry::command {

using Metadata = std::map<std::string, std::string>;

struct ModelFile {
  std::filesystem::path path;
  Model model;
  Vocabulary vocabulary;
  InputFormat format;
};

// Reads a model with a vocabulary, from any program. If the file lacks the input format, it is
// guessed, with a warning on standard error. Throws an Error that says what the file is, if it is
// no such model.
ModelFile read_model(const std::filesystem::path& path);

// The words of a text as ids (length), with <bos> if it was trained so. Throws Error for an empty
// text, and an unknown word, naming the closest one.
Indices ids_of_text(const ModelFile& file, const std::string& text);

// Throws Error for a text beyond the positions of a model, or 1024. `unit` is what is counted,
// "words", and `in_front` what the model's input begins with besides the text, "<bos>", or "".
void check_length(const TransformerOptions& options, Index length, const std::string& unit,
                  const std::string& in_front);

}  // namespace tapestry::command
