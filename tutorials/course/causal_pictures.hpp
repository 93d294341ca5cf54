// The pictures of steps 44 and 45: what a missing mask changes; who looks at the deciding word.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

using NamedNumbers = std::vector<std::pair<std::string, std::vector<double>>>;

struct WithoutMask {
  NamedNumbers losses = {};             // of each way to run the model: the loss of each word
  Tensor with = {}, without = {};       // (heads, words): where layer 0 looks, by the mask
  std::vector<std::string> tasks = {};  // the names
  NamedNumbers right = {};              // of each mask, for each task: answers wholly right, %;
                                        // first with the whole mask, last without any
};

// Bars for the loss of each word: the first, the second, ..., at last <eos>. Below, two maps of
// where each head looks when the word before <eos> is guessed; with the mask the last key is
// crossed out. Below these, bars for the tasks. Throws Error if numbers are missing.
plot::Canvas without_mask_picture(const WithoutMask& measured);

// Two charts, of verbs and of prepositions. In each, three bars for each head, four of a layer: its
// weight on the deciding word, trained, untrained and in shuffled words; and a line at `even`.
// Throws Error unless there are six columns, first those of verbs, with a number for each head.
plot::Canvas deciding_word_bars(const std::vector<std::vector<double>>& columns, double even);

}  // namespace tapestry
