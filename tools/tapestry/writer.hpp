// What `tapestry generate` needs of a model, whatever file it is from.
#pragma once

#include <functional>
#include <string>

#include "commands.hpp"
#include "tapestry/generation.hpp"

namespace tapestry::command {

struct Writer {
  std::function<NextLogits()> begin;  // for each text
  Indices prompt;                     // (length)
  std::string in_front;               // the special tokens that the prompt begins with, "<s>"
  // What an id adds to a text, any bytes. `first`: nothing was shown before it.
  std::function<std::string(std::int32_t id, bool first)> bytes_of;
  std::function<bool(std::int32_t id)> ends;  // whether a text ends with this id
  Index length;                               // most new words, if the user does not say
  bool folds;                                 // words, laid out in lines of 80 columns
  bool reports;                               // how fast it was
};

// Of a checkpoint with its vocabulary. Throws Error if it cannot generate, or not from this prompt.
Writer writer_of_checkpoint(const Path& checkpoint, const std::string& prompt);

// Of a folder as Hugging Face lays it out, with a tokenizer, and with adapters, if a file is named.
// Throws Error likewise.
Writer writer_of_folder(const Path& folder, const Path& adapters, const std::string& prompt);

}  // namespace tapestry::command
