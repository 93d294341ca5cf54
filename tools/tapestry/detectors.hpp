// The patterns that a model's heads follow on one text, with baselines that learned nothing.
#pragma once

#include <vector>

#include "subject.hpp"
#include "tapestry/analysis/evidence.hpp"

namespace tapestry::command {

// How many untrained models there are, and how many orders of the words: 8, for models of more than
// ten million numbers 2, for the sake of speed.
int baselines_of(const Model& model);

using Detected = std::vector<std::vector<std::vector<Evidence>>>;

// Of each layer, each head: all patterns (analysis/evidence.hpp). The score is that of this text
// alone; untrained: models of the same sizes with random weights; shuffled: the model on the same
// text with its first words in random order: those before the first that comes again, at least the
// first half, and all if none does. A first <bos> stays in place. No Capture may be active.
Detected detect(const Subject& subject, const Indices& ids);

// The pattern in which a head is furthest above the untrained models and uniform attention. Without
// uniform and sparse, which entropy shows.
const Evidence& best_pattern(const std::vector<Evidence>& of_head);

}  // namespace tapestry::command
