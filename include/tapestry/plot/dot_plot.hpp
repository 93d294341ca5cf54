// Dot plots of repeated runs: every run is a dot, beside the mean with its 95 % interval.
//
//   DotPlot chart;
//   chart.value_axis.name = "steps until 90 % are right";
//   chart.labels = {"1 head", "4 heads"};
//   chart.series = {{"sinusoidal", {{.values = {210, 250, 230}}, {.values = {120, 130, 90}}}},
//                   {"none", {{.values = {310}, .censored = {360, 360}},  // two never got there
//                             {.values = {200, 220, 280}}}}};
//   chart.censored_name = "not reached in 360 steps";
//   write_png(render(chart), "out/plots/heads.png");
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tapestry/plot/charts.hpp"

namespace tapestry::plot {

// The mean of a sample, and the 95 % interval of the mean by Student's t distribution: of many
// samples from one normal distribution, 95 % have an interval that contains the true mean.
struct MeanInterval {
  double mean = 0, low = 0, high = 0;
  std::size_t count = 0;
};

// For one value low and high are NaN, for none the mean too. A value that is not finite makes all
// three NaN. Equal values give an interval of length 0.
[[nodiscard]] MeanInterval mean_interval(std::span<const double> values);

// Half the length of that interval, of a sample of so many values with this deviation (the divisor
// of its squares is count - 1). NaN for fewer than two.
[[nodiscard]] double half_of_interval(double deviation, std::size_t count);

// The runs of one setting, one number for each seed; none is fine.
struct Runs {
  // Those that ended. A number without a place on the axis (NaN, ∞, on a log axis 0 or below, any
  // outside a given range) is written beside the plot: "NaN ×2".
  std::vector<double> values = {};
  // The limits of those that were stopped before: the value would be above. All finite, on a log
  // axis positive.
  std::vector<double> censored = {};
};

struct RunSeries {
  std::string name = {};              // for the legend; "" keeps the series out of it
  std::vector<Runs> groups = {};      // one per label
  std::optional<Colour> colour = {};  // automatic: series_colour of its place
};

struct DotPlot {
  std::string title = {}, subtitle = {};
  std::string label_axis = {};  // what the labels are: "heads", say
  // Automatic: holds all dots and whiskers.
  Axis value_axis = {};
  std::vector<std::string> labels = {};             // one per group
  std::vector<RunSeries> series = {};               // side by side in each group
  std::vector<ReferenceLine> reference_lines = {};  // at values, upright in a plot of rows
  bool rows = false;  // true: a group is a row, values grow to the right; better for long labels
  // For the legend, where there is such a mark; "" leaves it out. Without whiskers it says "mean".
  std::string interval_name = "mean, 95 % interval", censored_name = "not reached";
};

// Draws into `area`, title and legend included. A run is a dot, and a censored run a hollow dot at
// its limit with an arrow. Dots that would cover each other are moved sideways, always in the same
// way; where there is no room for that they become smaller, and at last overlap.
//
// Beside the dots a bar stands at the mean (the arithmetic one, also on a log axis), and whiskers
// at the ends of its interval, both as by mean_interval: one run or two have no whiskers (the
// interval of two is 12.7 times as long as their distance), and runs with a NaN have neither. Runs
// of which one is censored have neither, too: their mean is not known. A whisker goes on to the
// edge if its end has no place on the axis. A group without runs keeps its place.
//
// Throws Error when there are no labels or series, when a series has not one group per label, when
// nothing has a place on the axis and its range is not given, when a limit has none, when a range
// is empty or not positive on a log axis, and when the area is too small.
void draw(Canvas& canvas, Rect area, const DotPlot& chart);

// A picture of width × height logical units; automatic: 420 high, for rows as high as they need.
[[nodiscard]] Canvas render(const DotPlot& chart, double width = 720,
                            std::optional<double> height = {}, double scale = 2);

}  // namespace tapestry::plot
