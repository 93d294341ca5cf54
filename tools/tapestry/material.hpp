// Training data of `tapestry train`: tiny tasks, brackets, the grammar, a text by characters.
#pragma once

#include <functional>
#include <string>

#include "tapestry/text/batch.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry::command {

struct Material {
  std::string name;  // "copy", "grammar", "characters of book.txt"
  Vocabulary vocabulary;
  Index length = 0;   // positions of the longest sequence
  Index steps = 500;  // that suffice to learn it, with the other options as they are
  std::function<Batch(Index rows, Random& random)> train = {}, test = {};
  std::string test_is = {};      // the kind of data in `test`: "held out"
  bool has_answers = false;      // exact_matches is meaningful
  double best_loss = 0;          // lower bound of the loss; 0: unknown
  std::string fingerprint = {};  // of a text file's content, to recognise it
  std::string prompt = {};       // to generate from
  Index answer = 0;              // words to generate from it, if the model does not say <eos>
};

std::string task_names();  // "copy, reverse, ..."

// `task` is one of these names, or the path of a text file, which is read in pieces of `length`
// characters. Throws Error for anything else, and for a file that cannot be read, is no text, or is
// too short.
Material material(const std::string& task, Index length);

}  // namespace tapestry::command
