// The pictures of steps 74 and 78: the scores of all heads; what it costs to cut some of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tapestry/analysis/evidence.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Scores with a name: for each a row of maps (layers, heads) of their means, from 0 to 1, a column
// for each kind.
using NamedScores = std::vector<std::pair<std::string, Tensor>>;  // (kinds, layers, heads, rows)
plot::HeatmapGrid score_maps(const NamedScores& all);

// By how much ln p of a token falls on one sort of texts without a group of heads.
struct GroupCost {
  const char* texts;
  double joint, sum, means;  // cut together; one by one; together, by their mean outputs, not zeros
  Spread others;             // as many others of the same layers, together
  double others_sum;         // these one by one
};

struct CutGroup {
  std::string name;
  std::vector<GroupCost>
      costs;  // read again, behind another of the own story, behind another story; others
};

// For each of these three sorts of texts a chart, and in it three bars for each group: cut
// together, one by one, others. Throws Error if there is no group.
plot::Canvas bars_of_cuts(const std::vector<CutGroup>& groups);

}  // namespace tapestry
