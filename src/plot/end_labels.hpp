// Names at the right of a chart, each where its line ends.
#pragma once

#include <string>
#include <vector>

#include "plot/frame.hpp"
#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

struct EndLabel {
  std::string text;
  Point end;  // of the line
  Colour colour;
};

// Room for them at the right of the plot.
double end_label_room(const std::vector<LegendEntry>& names);

// Places at least `pitch` apart between low and high, if there is room for that, in the order of
// `wanted`, and together as near to it as can be (least squares).
std::vector<double> apart(const std::vector<double>& wanted, double pitch, double low, double high);

void draw_end_labels(Canvas& canvas, const Rect& plot, const std::vector<EndLabel>& labels);

}  // namespace tapestry::plot
