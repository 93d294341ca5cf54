#include "course/lookup_pictures.hpp"

#include <array>

#include "tapestry/error.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry {
namespace {

constexpr std::array<std::size_t, 3> colours = {2, 3, 5};  // as in steps 13, 37, 56

plot::LineChart chart_of(int d_k, const std::vector<LookupCurve>& curves) {
  if (curves.size() > colours.size()) throw Error("lookup_picture: at most three curves.");
  plot::LineChart chart;
  chart.title = "Learning to look up, d_k = " + std::to_string(d_k);
  chart.x_axis.name = "step";
  chart.y_axis = {.name = "mean squared error", .log = true, .low = 1e-4, .high = 3.0};
  for (std::size_t i = 0; i < curves.size(); ++i) {
    plot::Series series{curves[i].way, {}, curves[i].losses};
    for (std::size_t step = 0; step < series.y.size(); ++step) series.x.push_back(double(step));
    series.dashed = i != 1;
    series.colour = plot::series_colour(colours[i]);
    chart.series.push_back(series);
  }
  return chart;
}

}  // namespace

plot::Canvas lookup_picture(const std::map<int, std::vector<LookupCurve>>& by_d_k) {
  if (by_d_k.empty()) throw Error("lookup_picture: there is no curve.");
  plot::Canvas canvas(1500, 460);
  const std::vector<plot::Rect> panels =
      plot::panels(canvas.area().inset(16), 1, static_cast<int>(by_d_k.size()));
  std::size_t panel = 0;
  for (const auto& [d_k, curves] : by_d_k) {
    plot::draw(canvas, panels[panel++], chart_of(d_k, curves));
  }
  return canvas;
}

}  // namespace tapestry
