// Tables and pictures of steps 67 and 6j: which classifiers are right, and where their heads look.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "course/sentence_forms.hpp"
#include "tapestry/plot/canvas.hpp"

namespace tapestry {

using Shares = std::vector<double>;  // of sentences told right, from 0 to 1, for each seed
using NamedShares = std::vector<std::pair<std::string, Shares>>;  // with names of models

// A table: a line for each name, a column for each seed.
std::string text_of_shares(const NamedShares& rows);

// Where the heads look in a sentence.
struct HeadsLook {
  FormSentence sentence;
  Tensor weights;  // (heads, words)
};

struct ClassifierResults {
  NamedShares models = {};
  double first_word = 0;              // the share told right by the first word alone
  std::vector<HeadsLook> looks = {};  // there is room for five
};

// Above, a dot for each model and seed; below, a map for each sentence. Throws Error without
// models.
plot::Canvas classifier_picture(const ClassifierResults& results);

// The same sentences in rows of so many words: for each length the shares, where the model takes
// <pad> for a word and where it leaves it out.
struct SharesByLength {
  std::vector<double> lengths = {};
  std::vector<Shares> pad_as_word = {}, pad_left_out = {};
};

// A line for each seed. Throws Error without lengths.
plot::Canvas padding_picture(const SharesByLength& shares);

}  // namespace tapestry
