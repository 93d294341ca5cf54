// What is left of a trained model when some of its heads are removed: for step 51 and its
// experiment.
#pragma once

#include <cstddef>
#include <vector>

#include "course/inside.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/text/batch.hpp"

namespace tapestry::pruning {

using Heads = unsigned;          // a set of heads: bit i is head i, those of layer 0 first
constexpr double enough = 0.95;  // a pruned model keeps the quality with so much of the whole one's

struct Subject {
  Transformer model;
  Batch test;
};

// All heads of the model.
Heads all_heads(const Transformer& model);

// The mean probability that the model gives to the right word, with some of its heads alone.
// Throws Error as Capture does, if another one is active.
double quality(const Subject& subject, Heads kept, Replacement by = Replacement::zero);

// Of every set of heads: the element at `kept`.
std::vector<double> all_qualities(const Subject& subject, Replacement by = Replacement::zero);

// The importance of each head by Michel et al. (2019): its output is multiplied by a gate of 1, and
// the size of d loss / d gate is averaged over texts.
std::vector<double> gate_gradients(const Subject& subject);

// Quality by the number of heads that are left, from 0 to all: removed in the order of what each
// costs alone, of its gradient, or of what it costs among those left; the best choice of so many,
// and the mean of all choices.
struct Curves {
  std::vector<double> cost_alone, gradient, anew, best, random;
};
Curves curves(const std::vector<double>& all_qualities, const std::vector<double>& importance);

// The fewest heads that keep the quality, going down from all of them.
std::size_t needed(const std::vector<double>& curve);

// The heads of which each, when it alone is removed, leaves the quality.
Heads not_missed(const Subject& subject, Replacement by = Replacement::zero);

}  // namespace tapestry::pruning
