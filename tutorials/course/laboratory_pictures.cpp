#include "course/laboratory_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tapestry/error.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry {
namespace {

using All = std::vector<LaboratoryCurves>;
using Value = std::map<Index, double> LaboratoryCurves::*;

const LaboratoryCurves& named(const All& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const LaboratoryCurves& one) { return one.name == name; });
  if (found == all.end()) throw Error("laboratory_picture: no variant " + name);
  return *found;
}

// A dashed line of that slope, through (to, y).
plot::Series guide(double from, double to, double y, int power) {
  const char* name = power == 2 ? "L²" : "L";
  plot::Series line{name, {}, {}, true, false, true, plot::theme::faded};
  for (const double length : {from, to}) {
    line.x.push_back(length);
    line.y.push_back(y * std::pow(length / to, power));
  }
  return line;
}

// A colour means the same variant in every panel.
plot::Colour colour_of(const std::string& name) {
  const std::vector<std::string> order = {"explicit", "fused",  "cached",  "local",
                                          "strided",  "linear", "chunked", "checkpointed"};
  return plot::series_colour(
      static_cast<std::size_t>(std::find(order.begin(), order.end(), name) - order.begin()));
}

struct Panel {
  std::string title;
  std::vector<std::string> names;  // a line for each
  Value value;
};

plot::LineChart chart_of(const All& all, const Panel& panel, Index steep_from) {
  plot::LineChart chart;
  chart.title = panel.title;
  chart.end_labels = true;
  const bool time = panel.value == &LaboratoryCurves::forward_ms;
  chart.y_axis = {.name = time ? "ms" : "MiB",  // the same range in a row, and on every machine
                  .log = true,
                  .low = time ? 0.01 : 0.1,
                  .high = time ? 1e5 : 2e4};
  double low = INFINITY, high = 0;
  for (const std::string& name : panel.names) {
    plot::Series series{name, {}, {}, true, true, false, colour_of(name)};
    for (const auto& [length, value] : named(all, name).*panel.value) {
      series.x.push_back(static_cast<double>(length));
      series.y.push_back(value);
    }
    low = std::min(low, series.y.back());  // NaN: not less
    high = std::max(high, series.y.back());
    chart.series.push_back(series);
  }
  const double longest = chart.series.front().x.back();
  chart.x_axis = {.name = "length", .log = true, .low = 50, .high = longest};
  for (const auto& [y, power] : {std::pair{6 * high, 2}, std::pair{low / 3, 1}}) {
    chart.series.push_back(guide(double(steep_from), longest, y, power));
  }
  return chart;
}

}  // namespace

plot::Canvas laboratory_picture(const All& all, Index steep_from) {
  const Panel panels[] = {{"All pairs: time, forward (one core)",
                           {"explicit", "fused", "cached"},
                           &LaboratoryCurves::forward_ms},
                          {"Fewer pairs, or linear: time, forward (one core)",
                           {"fused", "strided", "local", "linear"},
                           &LaboratoryCurves::forward_ms},
                          {"All pairs: most bytes, forward and backward",
                           {"explicit", "checkpointed", "chunked", "fused"},
                           &LaboratoryCurves::both_mib},
                          {"Linear beside fused: most bytes, forward and backward",
                           {"fused", "linear"},
                           &LaboratoryCurves::both_mib}};
  plot::Canvas canvas(1200, 900);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 2, 2);
  for (std::size_t i = 0; i < areas.size(); ++i) {
    plot::draw(canvas, areas[i], chart_of(all, panels[i], steep_from));
  }
  return canvas;
}

}  // namespace tapestry
