// 58a. Does a head continue what came before? With a control
//
// "k a t k a": whoever has seen "k a t" can continue. An induction head does it with its weights:
// from a word that has come before, it looks at the word *behind* the earlier one. Measure that.
//
// 1. keys_behind(words): for each position i of a text of n words, the position j + 1, where j is
//    the last position before i that has the same word. -1 if the word comes for the first time.
//    words.values[i] is the word at i.
//    ->   std::vector<Index>, n numbers
// 2. score_behind(weights, words): the mean of weights[i, k] over all i that have such a key k.
//    0 if there is none.
//    weights   (n, n), queries by keys
//    ->        a number
//
// A head that always looks two places back would get a high score on "k a t k a t k a t", by place
// alone. So the judge also calls score_behind with a control: the weights of the same head on
// another text of n words that has no repetition, at the keys of the first text. Only a head whose
// score is high, and whose control is low, looks at what is repeated.
// Lesson: tutorials/phase5_experiments/3_what_carries_the_answer.md, "58 An induction head emerges"
#include <vector>

#include "phase5.hpp"

namespace learn {

std::vector<Index> keys_behind(const Indices& words) {
  // Yours.
  not_written_yet();
}

double score_behind(const Tensor& weights, const Indices& words) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
