// What stands in the lanes of a dot plot: one lane for each series of each group.
#pragma once

#include <string>
#include <vector>

#include "plot/axes.hpp"
#include "tapestry/plot/dot_plot.hpp"

namespace tapestry::plot {

inline constexpr double arrow_length = 11;  // of a censored run, beyond the dot

// Distances are logical units: `along` the axis of values, from its low end; `across` it, from the
// middle of the lane.
struct Dot {
  double along, across;
  bool censored;
};

// The runs without a place on the axis, a text for each kind: "NaN ×2", "> 360". Of more than three
// kinds the last text says how many runs are left: "4 more".
using Notes = std::vector<std::string>;
Notes notes_on(const Runs& runs, const Range& range);

struct Lane {
  std::vector<Dot> dots = {};
  MeanInterval interval = {};  // mean NaN: no bar; low and high NaN: no whiskers
  Notes notes = {};
};

// All lanes, group by group, and the sizes that they share.
struct Lanes {
  std::vector<Lane> all;
  double group, lane;           // pitches
  double radius;                // of the dots
  double bar_across, half_bar;  // of the means: their middle, and half their length
};

// What is drawn for these runs: no mean when one is censored, an interval only from three on.
MeanInterval shown_interval(const Runs& runs);

// For an axis `length` long and groups that share `room` across it.
Lanes lanes_for(const DotPlot& chart, const Range& range, double length, double room);

}  // namespace tapestry::plot
