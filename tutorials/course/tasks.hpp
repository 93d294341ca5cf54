// Tiny tasks that need letters from other positions, with the right answers known.
//
//   copy       <bos> d a c => d a c <eos>       answer: the same letters
//   reverse    <bos> d a c => c a d <eos>       answer: from the last to the first
//   sort       <bos> d a c => a c d <eos>       answer: in alphabetical order
//   induction  <bos> d a c f a c f              after the first repeated letter, answer: what stood
//                                               behind the same letter before
//   majority   <bos> b a c a => a <eos>         answer: the letter that occurs most often
// Letters are drawn with equal chances; those of induction without repetition, so that one look
// back tells the answer. Its length varies, so that no fixed distance tells it; and the repetition
// begins at any letter of the prompt but the last, so that no fixed place does. Prompts of majority
// in which two letters occur most often are not used.
//
// To beat: guessing. To give every word of the vocabulary the same chance has a loss of ln(size),
// 3.09 with 16 letters; to know that letters follow, ln 16 = 2.77 for each. A whole answer of n
// letters is guessed right with a chance of 16^-n: one in 65 536 for n = 4.
//
// The answer to majority is one letter, and many guesses know it that do not count. The shares of
// right answers, with few_letters (below):
//   any of the 4 letters, by chance                        25 %
//   the first letter of the prompt, the last or any other  50 %
//   what is most frequent among the last 3 letters         61 %
//   the latest letter that stands twice in a row, or the
//   last one if none does                                  78 %
//   what is most frequent among the last 5 letters         79 %
// One head solves it with equal weights: where it reads "=>", it finds the share of each letter. No
// order is needed, and no position.
#pragma once

#include <string>
#include <vector>

#include "course/held_out.hpp"
#include "tapestry/random.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

enum class TaskKind { copy, reverse, sort, induction, majority };

std::string to_string(TaskKind kind);  // "copy", "reverse", ...

struct TaskSize {
  Index letters = 16;               // how many different ones: a, b, c, ...; 2 to 26
  Index shortest = 4, longest = 8;  // letters of a prompt
};

// Of majority, so that letters come again: with 16 of them, the answer is often the only one that
// comes twice, and no counting is needed.
constexpr TaskSize few_letters{.letters = 4, .shortest = 5, .longest = 9};

struct TaskSequence {
  Words words;   // all of it, but <bos> and <eos>
  Index given;   // the first so many words are given, the others are the answer
  bool has_end;  // <eos> is part of the answer
};

class TinyTask {
 public:
  // Throws Error for sizes out of range, for prompts of which there are less than 100 (of the
  // shortest length; of majority, those without a tie), and for induction with prompts of one
  // letter or of more than there are.
  explicit TinyTask(TaskKind kind, TaskSize size = {});

  // The letters and "=>"; the same for all tasks with as many letters.
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // The most positions of a row of inputs (below), <bos> included: what a model has to hold.
  Index length() const;

  // Every length from shortest to longest is equally likely, in both parts.
  TaskSequence sequence(Part part, Random& random) const;

  // Inputs are <bos> and the words, targets the next word wherever it belongs to the answer and -1
  // elsewhere: exact_matches (batch.hpp) counts the answers that are wholly right.
  Batch batch(Part part, Index rows, Random& random) const;
  Batch batch(const std::vector<TaskSequence>& sequences) const;  // these

 private:
  Words prompt(Part part, Random& random) const;

  TaskKind kind_;
  TaskSize size_;
  Vocabulary vocabulary_;
};

}  // namespace tapestry
