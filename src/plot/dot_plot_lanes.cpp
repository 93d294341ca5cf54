#include "plot/dot_plot_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "plot/swarm.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

constexpr double widest_lane = 96, bar_gap = 4;
constexpr std::size_t most_notes = 3;

bool is_on(const Range& range, double value) {
  const double share = range.share(value);
  return share > -1e-9 && share < 1 + 1e-9;
}

std::string short_text(double value) {
  return number_text(value, value == std::round(value) ? 0 : 2);
}

Lane lane_for(const Runs& runs, const Range& range, double length) {
  Lane lane{{}, shown_interval(runs), notes_on(runs, range)};
  const auto add = [&](double value, bool censored) {
    if (!is_on(range, value)) return;
    Dot& dot = lane.dots.emplace_back();
    dot.along = length * range.share(value);
    dot.censored = censored;
  };
  for (const double value : runs.values) add(value, false);
  for (const double limit : runs.censored) add(limit, true);
  return lane;
}

// Moves dots of that radius apart in every lane; returns how far the farthest is moved.
double spread(Lanes& lanes) {
  double farthest = 0;
  for (Lane& lane : lanes.all) {
    std::vector<Extent> extents;
    for (const Dot& dot : lane.dots) {
      extents.push_back({dot.along, dot.along + (dot.censored ? arrow_length : 0)});
    }
    const std::vector<double> moved = swarm(extents, 2 * lanes.radius + 1);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      lane.dots[i].across = moved[i];
      farthest = std::max(farthest, std::abs(moved[i]));
    }
  }
  return farthest;
}

}  // namespace

MeanInterval shown_interval(const Runs& runs) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  MeanInterval shown = mean_interval(runs.values);
  if (!runs.censored.empty()) shown.mean = none;
  if (!runs.censored.empty() || shown.count < 3) shown.low = shown.high = none;
  return shown;
}

Notes notes_on(const Runs& runs, const Range& range) {
  std::vector<std::pair<std::string, int>> counts;  // in the order of the runs
  const auto count = [&](const std::string& text) {
    const auto same = [&](const auto& counted) { return counted.first == text; };
    const auto found = std::find_if(counts.begin(), counts.end(), same);
    if (found != counts.end()) {
      ++found->second;
    } else {
      counts.push_back({text, 1});
    }
  };
  for (const double value : runs.values) {
    if (!is_on(range, value)) count(short_text(value));
  }
  for (const double limit : runs.censored) {
    if (!is_on(range, limit)) count("> " + short_text(limit));
  }
  Notes notes;
  int left = 0;
  for (const auto& [text, times] : counts) {
    if (notes.size() < most_notes) {
      notes.push_back(times > 1 ? text + " ×" + std::to_string(times) : text);
    } else {
      left += times;
    }
  }
  if (left > 0) notes.push_back(std::to_string(left) + " more");
  return notes;
}

Lanes lanes_for(const DotPlot& chart, const Range& range, double length, double room) {
  Lanes lanes{};
  const double series = static_cast<double>(chart.series.size());
  lanes.group = room / static_cast<double>(chart.labels.size());
  lanes.lane = std::min(widest_lane, 0.84 * lanes.group / series);
  for (std::size_t i = 0; i < chart.labels.size(); ++i) {
    for (const RunSeries& runs : chart.series) {
      lanes.all.push_back(lane_for(runs.groups[i], range, length));
    }
  }
  lanes.half_bar = std::min(7.0, 0.12 * lanes.lane);
  const double gap = std::min(bar_gap, 0.1 * lanes.lane);
  double side = 0, farthest = 0;  // from the middle of the dots to the outermost centre
  for (const double radius : {3.6, 3.0, 2.4, 1.8}) {
    lanes.radius = radius;
    side = std::max(0.0, 0.47 * lanes.lane - lanes.half_bar - gap / 2 - radius);
    farthest = spread(lanes);
    if (farthest <= side) break;
  }
  const double squeeze = farthest > side ? side / farthest : 1;
  const double dots = squeeze * farthest + lanes.radius;  // half the width of all dots
  for (Lane& lane : lanes.all) {
    for (Dot& dot : lane.dots) dot.across = squeeze * dot.across - gap / 2 - lanes.half_bar;
  }
  lanes.bar_across = dots + gap / 2;
  return lanes;
}

}  // namespace tapestry::plot
