// 48b. A text written with a cache
//
// The model is a function with a memory. read(word) reads one word more: it keeps the word's key
// and value behind those of the words read before, and returns the logits (vocabulary) of the word
// that comes next. Nothing can be taken back, so each word must be read once, in order.
//
// Write a text: read the prompt; then, count times, take the likeliest next word and put it behind
// the text. The result has to be what a model without a cache would write, which reads the whole
// text again for each word.
//
//   read    from a word's id to logits (vocabulary)
//   prompt  ids, two or more
//   count   how many words are to be written, one or more
//   ->      the ids of the prompt and the new words behind them
//
// argmax(logits).values[0] is the id of the likeliest word.
// Lesson: tutorials/phase4_causal/README.md, 48 The cache
#include "phase4.hpp"

namespace learn {

std::vector<Index> write_words(const ReadWord& read, const std::vector<Index>& prompt,
                               Index count) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
