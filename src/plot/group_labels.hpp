// The labels of groups, below the columns of a chart.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

// Broken at blanks if all words then fit into columns `pitch` wide, otherwise upright.
struct GroupLabels {
  std::vector<std::vector<std::string>> lines;
  bool upright = false;
  double pitch, height;
};
GroupLabels group_labels(const std::vector<std::string>& labels, double pitch);

// Below that edge of the plot; of upright ones as many as do not touch.
void draw_group_labels(Canvas& canvas, Point left_end, const GroupLabels& labels);

}  // namespace tapestry::plot
