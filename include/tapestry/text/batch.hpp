// Sequences of different lengths side by side, with what a model is to say about each position.
#pragma once

#include <vector>

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

struct Batch {
  Indices inputs = {};   // (rows, longest): what the model reads, short rows filled up with <pad>
  Indices targets = {};  // the same shape: the id to be said there; -1: none, as in cross_entropy
  std::vector<Index> lengths = {};  // of each row without what fills it: for Mask::padding
};

// Each row reads <bos> w1 ... wn, and is to say w1 ... wn <eos>: at every position the next word.
// Throws Error for a word that is not in the vocabulary.
Batch next_word_batch(const Vocabulary& vocabulary, const std::vector<Words>& texts);

// Each row reads its text with one word hidden, <mask> in its place, and is to say that word there.
// Every place is equally likely. Throws Error as above, and for a text without words.
Batch masked_lm_batch(const Vocabulary& vocabulary, const std::vector<Words>& texts,
                      Random& random);

// In how many rows the greatest logit of every position that has a target is this target's, the
// lowest id winning among equals; rows without any target do not count. A causal model that is
// right so while it reads the true words says the same words when it reads its own: "wholly right"
// is what greedy generation would give. logits (rows, length, vocabulary), targets (rows, length).
// NaN is never right. Throws Error if the shapes do not fit. (Positions one by one: accuracy.hpp.)
Index exact_matches(const Tensor& logits, const Indices& targets);

}  // namespace tapestry
