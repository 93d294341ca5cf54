#include "course/descent_pictures.hpp"

#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

plot::Series contour(const ValleyView& valley, double level) {
  plot::Series ring;
  for (int i = 0; i <= 600; ++i) {
    const double angle = i * 6.283185307 / 600;
    const Tensor d({2}, {std::cos(angle), std::sin(angle)});  // (2)
    // Along d the loss is a parabola with its bottom at the goal.
    const double radius = std::sqrt(level / valley.loss(valley.goal + d));
    ring.x.push_back(valley.goal.at({0}) + radius * d.at({0}));
    ring.y.push_back(valley.goal.at({1}) + radius * d.at({1}));
  }
  ring.colour = plot::theme::missing;
  return ring;
}

}  // namespace

plot::LineChart valley_chart(const ValleyView& valley) {
  plot::LineChart chart{.title = valley.title};
  chart.x_axis = {.name = "first weight", .log = false, .low = -2.0, .high = 3.0};
  chart.y_axis = {.name = "second weight", .log = false, .low = -2.0, .high = 3.0};
  for (const double level : {0.01, 0.1, 1.0, 4.0}) {
    chart.series.push_back(contour(valley, level));
  }
  for (std::size_t i = 0; i < valley.paths.size(); ++i) {
    const WeightPath& path = valley.paths[i];
    chart.series.push_back({path.name, path.first, path.second});
    chart.series.back().markers = true;
    chart.series.back().colour = plot::series_colour(i);
  }
  chart.annotations = {{valley.start.at({0}), valley.start.at({1}), "start"},
                       {valley.goal.at({0}), valley.goal.at({1}), "goal"}};
  return chart;
}

plot::Canvas valleys_picture(const std::vector<ValleyView>& valleys) {
  if (valleys.size() != 2) throw Error("valleys_picture: needs two valleys.");
  plot::Canvas canvas(1240, 690);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  for (std::size_t i = 0; i < 2; ++i) plot::draw(canvas, panels[i], valley_chart(valleys[i]));
  return canvas;
}

}  // namespace tapestry
