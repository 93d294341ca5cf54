// The picture of step 71: how the losses of its models fall, and what they end at, for ten seeds.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::since_2017 {

struct NamedLosses {
  std::string name;
  std::vector<double> losses;  // of each step of training
};

// At the left a line for each model: the means of 20 steps each. At the right, read from the text
// that the experiment of this step keeps, bars for each model: the least, the mean and the greatest
// of ten seeds. Throws Error if the file is not there, or has no such rows.
plot::Canvas losses_and_seeds(const std::vector<NamedLosses>& models,
                              const std::string& experiment);

}  // namespace tapestry::since_2017
