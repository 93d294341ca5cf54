// Batches of sequences of different lengths, with the target of each position.
#pragma once

#include <vector>

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

struct Batch {
  Indices inputs = {};   // (rows, longest): what the model reads, short rows padded with <pad>
  Indices targets = {};  // the same shape: the id to predict there; -1: none, as in cross_entropy
  std::vector<Index> lengths = {};  // of each row without padding: for Mask::padding
};

// Inputs are <bos> w1 ... wn, targets w1 ... wn <eos>: at every position the next word. Throws
// Error for a word that is not in the vocabulary.
[[nodiscard]] Batch next_word_batch(const Vocabulary& vocabulary, const std::vector<Words>& texts);

// In each row <mask> replaces one word, which is the target there. Every place is equally likely.
// Throws Error as above, and for a text without words.
[[nodiscard]] Batch masked_lm_batch(const Vocabulary& vocabulary, const std::vector<Words>& texts,
                                    Random& random);

// Counts the rows in which argmax(logits) is the target at every position that has one, of equal
// logits the lowest id; rows without targets do not count. A causal model that is right there when
// it reads the true words also generates them greedily from its own. logits (rows, length,
// vocabulary), targets (rows, length). NaN is never a match. Throws Error if the shapes do not fit.
// (Positions one by one: accuracy.hpp.)
[[nodiscard]] Index exact_matches(const Tensor& logits, const Indices& targets);

}  // namespace tapestry
