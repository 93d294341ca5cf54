// The coordinate system of a chart: from data to canvas, with grid, ticks and names.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/charts.hpp"

namespace tapestry::plot {

// Whether an axis can show this value.
bool has_place(double value, bool log);

// One axis with a fixed range.
struct Range {
  double low, high;
  bool log;
  // The position of `value` between low (0) and high (1); NaN if it is not on the axis.
  double share(double value) const;
};

// Computes the range of `values` (those that can be on the axis) with round ends; `chart` names the
// caller in errors. `tight` keeps the ends at the data.
Range settle(const Axis& axis, const std::vector<double>& values, const std::string& chart,
             bool tight = false);

struct Axes {
  Rect plot;
  Range x, y;
  Point at(double data_x, double data_y) const;  // non-finite if not on an axis
};

// Ticks and their labels for a fixed range; `room` in logical units, `pitch` per label.
struct Ticks {
  std::vector<double> at;
  std::vector<std::string> texts;
};
Ticks ticks_for(const Range& range, double room, double pitch);

// Room for the y axis on the left: tick labels and the rotated name.
double y_axis_room(const Ticks& ticks, const std::string& name);
// Room for tick labels and name under the plot.
double x_axis_room(const std::string& name);

void draw_y_axis(Canvas& canvas, const Axes& axes, const Ticks& ticks, const std::string& name);
void draw_x_axis(Canvas& canvas, const Axes& axes, const Ticks& ticks, const std::string& name);
// At values of the y axis; upright ones at values of the x axis.
void draw_reference_lines(Canvas& canvas, const Axes& axes, const std::vector<ReferenceLine>& lines,
                          bool upright = false);

// Places texts beside their points, away from each other, from `obstacles` and from the rim.
void draw_annotations(Canvas& canvas, const Axes& axes, const std::vector<Annotation>& annotations,
                      const std::vector<Point>& obstacles);

}  // namespace tapestry::plot
