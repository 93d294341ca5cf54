// A second kind of text with the words of the first, and models that go on from one to the other.
//
//   plain       the cat sat on the mat        every child of this course knows it (grammar.hpp)
//   backwards   mat the on sat cat the        each sentence from its last word to its first
//   exchanged   the cow sat on the mat        nouns have changed places: pets and cattle, birds and
//                                             swimmers, insects and food, furniture and waters
//
// Both changes are one to one: from the new sentence the old one can be told. So all three kinds
// have the same entropy, and a model of a kind can do no better than Grammar::entropy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/nn/adapters.hpp"

namespace tapestry {

enum class Dialect { plain, backwards, exchanged };

std::string to_string(Dialect dialect);

// The sentence in another dialect. "a" and "an" stay as they are.
Words in_dialect(Words sentence, Dialect dialect);

// So many random sentences for next-word prediction.
Batch dialect_batch(Dialect dialect, Index count, Random& random);

// The words of all dialects: those of Grammar.
const Vocabulary& dialect_vocabulary();

// Mean cross-entropy of a word in 1000 sentences, always the same ones.
double loss_in(Dialect dialect, const Transformer& model);

struct DialectRun {
  Index rank = 0;          // of adapters at all maps; 0: the whole model learns
  bool maps_only = false;  // with rank 0: only the weights of these maps learn
  bool rest = false;       // all but these weights learns beside adapters; with rank 0 alone
  bool both = false;       // every other step reads plain sentences
  double rate = 3e-3;
  Index steps = 400;
  std::uint64_t seed = 1;
  Index every = 25;  // steps between two measurements
};

struct DialectPoint {
  Index step = 0;
  double loss_of_new = 0, loss_of_old = 0;
};

struct Learned {
  Transformer model;  // with adapters, if the rank is not 0
  std::vector<DialectPoint> points = {};
  Index numbers = 0;  // that learned
};

// The loss of the old text when that of the new one first was as low as this; between two points on
// the straight line. NaN if it never was.
double loss_of_old_at(const Learned& learned, double loss_of_new);

// A new model of that dialect.
Transformer learn_dialect(Dialect dialect, Index steps, std::uint64_t seed);

// A copy of the model goes on with another dialect; the model itself stays.
Learned go_on(const Transformer& model, Dialect dialect, const DialectRun& run);

}  // namespace tapestry
