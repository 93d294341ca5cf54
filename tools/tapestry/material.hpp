// Training data of `tapestry train`: the tiny tasks, the grammar, a text file by characters.
#pragma once

#include <functional>
#include <string>

#include "tapestry/text/batch.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry::command {

struct Material {
  std::string name;  // "copy", "grammar", "characters of book.txt"
  Vocabulary vocabulary;
  Index length = 0;  // positions of the longest sequence
  std::function<Batch(Index rows, Random& random)> train = {}, test = {};
  std::string test_is = {};      // the kind of data in `test`: "held out"
  bool has_answers = false;      // exact_matches is meaningful
  double best_loss = 0;          // lower bound of the loss; 0: unknown
  std::string fingerprint = {};  // of a text file's content, to recognise it
  std::string prompt = {};       // to generate from
};

// `task` is copy, reverse, sort, induction, grammar, or the path of a text file, which is read in
// pieces of `length` characters. Throws Error for anything else, and for a file that cannot be
// read, is no text, or is too short.
Material material(const std::string& task, Index length);

}  // namespace tapestry::command
