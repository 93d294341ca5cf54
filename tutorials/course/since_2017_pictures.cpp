#include "course/since_2017_pictures.hpp"

#include <cstdio>
#include <fstream>

#include "tapestry/error.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry::since_2017 {
namespace {

plot::Series curve(const NamedLosses& model) {
  constexpr std::size_t width = 20;
  plot::Series series{.name = model.name};
  for (std::size_t begin = 0; begin + width <= model.losses.size(); begin += width) {
    double sum = 0;
    for (std::size_t i = begin; i < begin + width; ++i) sum += model.losses[i];
    series.x.push_back(double(begin) + width / 2.0);
    series.y.push_back(sum / double(width));
  }
  return series;
}

plot::BarChart bars_of_seeds(const std::string& path) {
  plot::BarChart bars{.title = "New stories, after training",
                      .subtitle = "ten seeds",
                      .y_axis = {.name = "bits of a story above its entropy"},
                      .print_values = false};
  bars.series = {{"least", {}, plot::theme::missing},
                 {"mean", {}, plot::theme::accent},
                 {"greatest", {}, plot::theme::frame}};
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    double mean = 0, least = 0, greatest = 0;
    const std::string name = line.substr(0, 17), numbers = line.substr(name.size());
    if (std::sscanf(numbers.c_str(), "%*d %lf %lf - %lf", &mean, &least, &greatest) != 3) continue;
    bars.labels.push_back(name.substr(0, name.find_last_not_of(' ') + 1));
    bars.series[0].values.push_back(least);
    bars.series[1].values.push_back(mean);
    bars.series[2].values.push_back(greatest);
  }
  if (bars.labels.empty()) throw Error(path + " is not there: start in the root.");
  return bars;
}

}  // namespace

plot::Canvas losses_and_seeds(const std::vector<NamedLosses>& models,
                              const std::string& experiment) {
  plot::LineChart curves{.title = "Training",
                         .subtitle = "one seed; means of 20 steps",
                         .x_axis = {.name = "step"},
                         .y_axis = {.name = "loss, nats per token", .low = 0.4, .high = 1.4}};
  for (const NamedLosses& model : models) curves.series.push_back(curve(model));
  plot::Canvas canvas(1500, 520);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], curves);
  plot::draw(canvas, panels[1], bars_of_seeds(experiment));
  return canvas;
}

}  // namespace tapestry::since_2017
