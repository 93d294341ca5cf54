// Line charts (linear or logarithmic, so rooflines too) and grouped bar charts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

struct Axis {
  std::string name = {};
  bool log = false;
  std::optional<double> low = {},
                        high = {};  // the range; automatic: from the data, to round numbers
};

struct Series {
  std::string name = {};  // for the legend or the line's end; "" is written nowhere
  // Of equal length; a gap is left at non-finite points, and at points that are not positive on a
  // log axis.
  std::vector<double> x = {}, y = {};
  bool line = true, markers = false, dashed = false;
  std::optional<Colour> colour = {};  // automatic: series_colour of its place
};

// A dashed line through the whole chart at one value of its y axis, named like a series.
struct ReferenceLine {
  double y = 0;
  std::string label = {};
  Colour colour = theme::accent;
};

// A text beside the point (x, y), placed where it overlaps least; with a dot when `marker`.
struct Annotation {
  double x = 0, y = 0;
  std::string text = {};
  bool marker = true;
};

struct LineChart {
  std::string title = {}, subtitle = {};
  Axis x_axis = {}, y_axis = {};
  std::vector<Series> series = {};
  std::vector<ReferenceLine> reference_lines = {};
  std::vector<Annotation> annotations = {};
  bool end_labels = false;  // names stand at the right, where the lines end, instead of a legend
};

struct BarSeries {
  std::string name = {};            // for the legend
  std::vector<double> values = {};  // one per label; non-finite values are written, not drawn
  std::optional<Colour> colour = {};
};

struct BarChart {
  std::string title = {}, subtitle = {};
  std::string label_axis = {};           // what the labels are: "head", say
  Axis y_axis = {};                      // linear only; always contains 0
  std::vector<std::string> labels = {};  // one per group of bars
  std::vector<BarSeries> series = {};
  std::vector<ReferenceLine> reference_lines = {};
  bool print_values = true;  // where they fit
  int digits = 2;
};

// Draw into `area`, title and legend included. Throw Error when there is nothing to draw (no
// series, no finite point, no label), when lengths disagree, when a range is empty or not positive
// on a log axis, and when the area is too small.
void draw(Canvas& canvas, Rect area, const LineChart& chart);
void draw(Canvas& canvas, Rect area, const BarChart& chart);

// A picture of width × height logical units.
[[nodiscard]] Canvas render(const LineChart& chart, double width = 720, double height = 460,
                            double scale = 2);
[[nodiscard]] Canvas render(const BarChart& chart, double width = 720, double height = 420,
                            double scale = 2);

}  // namespace tapestry::plot
