#include "course/linear_pictures.hpp"

#include <string>

#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry {
namespace {

plot::Heatmap map_of(const Tensor& values, const char* title, double high,
                     plot::ColourMap colours) {
  const bool two_sided = colours == plot::ColourMap::blue_orange;
  plot::Heatmap map;
  map.rows = map.columns = values.size(0);
  map.values = doubles(values);
  map.title = title;
  map.print = plot::PrintValues::never;
  map.colours = colours;
  map.low = two_sided ? -high : 0;
  map.high = high;
  map.colour_bar_name = two_sided ? "difference of weights" : "attention weight";
  return map;
}

plot::LineChart chart_of(const std::vector<OnItself>& by_gain, Index words) {
  plot::LineChart chart;
  chart.title = "Weight on the one key that fits";
  chart.subtitle = std::to_string(words) + " words look for themselves; q and k times a factor";
  chart.x_axis = {.name = "factor", .log = true};
  chart.y_axis = {.name = "weight on itself, mean", .low = 0, .high = 1.05};
  plot::Series softmax{"softmax", {}, {}, true, true}, linear{"linear", {}, {}, true, true};
  for (const OnItself& one : by_gain) {
    softmax.x.push_back(one.gain), softmax.y.push_back(one.softmax);
    linear.x.push_back(one.gain), linear.y.push_back(one.linear);
  }
  chart.series = {softmax, linear};
  chart.reference_lines = {{1 / static_cast<double>(words), "uniform weights"}};
  return chart;
}

}  // namespace

plot::Canvas linear_picture(const LinearAndSoftmax& weights, const std::vector<OnItself>& by_gain) {
  const auto& [softmax, linear] = weights;
  const double high = double{max(softmax).item()};
  plot::Canvas canvas(1100, 920);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 2, 2);
  plot::draw(canvas, panels[0],
             map_of(softmax, "Softmax attention, factor 1", high, plot::ColourMap::blues));
  plot::draw(canvas, panels[1],
             map_of(linear, "Linear attention, same q and k", high, plot::ColourMap::oranges));
  plot::draw(canvas, panels[2],
             map_of(linear - softmax, "Linear less softmax", high, plot::ColourMap::blue_orange));
  plot::draw(canvas, panels[3], chart_of(by_gain, softmax.size(0)));
  return canvas;
}

}  // namespace tapestry
