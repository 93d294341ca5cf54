// 43a. Inputs and targets for the next word
//
// A model learns to write from whole texts: at each place it reads a word and has to say the next
// one. So a text gives two lists, one place apart:
//
//   text     <bos> the cat sat <eos>
//   inputs   <bos> the cat sat
//   targets  the   cat sat <eos>
//
// Here are several texts, a row each. Short rows are filled up with <pad>, whose id is 0. Where the
// next word would be <pad>, nothing has to be said: the target there is -1, and the loss leaves it
// out. Inputs stay as they are.
//
//   text              (rows, n) of ids
//   inputs, targets   (rows, n - 1) of ids
//
// The ids are text.values, row after row: place i of row r is text.values[r * n + i]. Make the
// results with Indices({rows, n - 1}, values), values a std::vector<std::int32_t>.
// Lesson: tutorials/phase4_causal/README.md, 43 The next word
#include "phase4.hpp"

namespace learn {

NextWords next_words(const Indices& text) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
