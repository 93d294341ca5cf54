// The patterns that a model's heads follow on one text, with baselines that learned nothing.
#pragma once

#include <vector>

#include "model_file.hpp"
#include "tapestry/analysis/evidence.hpp"

namespace tapestry::command {

inline constexpr int baselines = 8;  // untrained models, and orders of the words

using Detected = std::vector<std::vector<std::vector<Evidence>>>;

// Of each layer, each head: all patterns (analysis/evidence.hpp). The score is that of this text
// alone; untrained: models of the same sizes with random weights; shuffled: the model on its words
// in random order, a first <bos> in place. No Capture may be active.
Detected detect(const ModelFile& file, const Indices& ids);

// The pattern in which a head is furthest above the untrained models and uniform attention. Without
// uniform and sparse, which entropy shows.
const Evidence& best_pattern(const std::vector<Evidence>& of_head);

}  // namespace tapestry::command
