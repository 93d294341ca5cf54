// The picture of step 58: how induction emerges while models learn.
#pragma once

#include <string>
#include <vector>

#include "course/induction_runs.hpp"
#include "tapestry/plot/canvas.hpp"

namespace tapestry {

// Runs of one kind, which share a colour and a name.
struct InductionKind {
  std::string name;
  std::vector<InductionRun> runs;
};

// Three charts by step: the loss, and the scores of the best heads, induction and previous letter.
// A line for each run, and a dashed one for the loss of guessing.
plot::Canvas induction_picture(const std::vector<InductionKind>& kinds, double guessing);

}  // namespace tapestry
