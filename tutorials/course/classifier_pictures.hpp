// A table and the picture of step 67: which classifiers are right, and where their heads look.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "course/sentence_forms.hpp"
#include "tapestry/plot/canvas.hpp"

namespace tapestry {

using Shares = std::vector<double>;  // of sentences told right, from 0 to 1, for each of five seeds
using NamedShares = std::vector<std::pair<std::string, Shares>>;  // with names of models

// A table: a line for each name.
std::string text_of_shares(const NamedShares& rows);

// Where the heads look in a sentence.
struct HeadsLook {
  FormSentence sentence;
  Tensor weights;  // (heads, words)
};

struct ClassifierResults {
  NamedShares models = {};
  double first_word = 0;  // the share told right by the first word alone
  // The same sentences in rows of so many words: for each length the shares, where the model takes
  // <pad> for a word and where it leaves it out.
  std::vector<double> lengths = {};
  std::vector<Shares> pad_as_word = {}, pad_left_out = {};
  std::vector<HeadsLook> looks = {};  // there is room for five
};

// Above, a dot for each model and seed; at its right the shares by the length of rows, a line for
// each seed; below, a map for each sentence. Throws Error if there is nothing to draw in one of
// the first two.
plot::Canvas classifier_picture(const ClassifierResults& results);

}  // namespace tapestry
