// Patterns of step 62, and what they cost, as texts and pictures.
#pragma once

#include <string>
#include <vector>

#include "course/named_mask.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/heatmap_grid.hpp"

namespace tapestry {

// Four patterns side by side, the next four below, and so on: the name, and a line for each of
// `length` queries, ✓ for a word that it sees, · for another. There is room for 12 words.
std::string patterns_side_by_side(const std::vector<NamedMask>& patterns, Index length);

// The same as maps, four in a row.
plot::HeatmapGrid pattern_maps(const std::vector<NamedMask>& patterns, Index length);

// One pattern, counted and timed.
struct PatternCost {
  std::string name;
  double pairs = 1, blocks = 1;  // to be computed; shares of what there is without a pattern
  double forward = 0, both = 0;  // seconds, both: with the backward pass
};

// A table of pairs and blocks.
std::string counts_of_patterns(const std::vector<PatternCost>& costs);

// A table of milliseconds, with their shares of those of the first pattern; and a line that says
// how far the shares of time with the backward pass are from those of pairs, and from those of
// blocks, in the mean.
std::string times_of_patterns(const std::vector<PatternCost>& costs);

// For each pattern its share of pairs, of blocks, and of the first one's time forward and backward.
plot::BarChart shares_of_patterns(const std::vector<PatternCost>& costs);

}  // namespace tapestry
