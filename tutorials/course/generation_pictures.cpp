#include "course/generation_pictures.hpp"

#include <algorithm>

#include "tapestry/error.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry {
namespace {

plot::BarChart next_word_chart(const std::string& text, const WordShares& allowed,
                               const std::vector<double>& by_model) {
  plot::BarChart chart;
  chart.title = "“" + text + " …”: the next word";
  chart.series = {{"model", by_model}, {"grammar", {}}};
  for (const auto& [word, truth] : allowed) {
    chart.labels.push_back(word);
    chart.series[1].values.push_back(truth);
  }
  return chart;
}

plot::BarChart temperature_chart(const std::string& text, const WordShares& allowed,
                                 const std::vector<std::vector<double>>& by_temperature) {
  plot::BarChart chart;
  chart.title = "“" + text + " …”: temperature";
  for (const auto& [word, truth] : allowed) chart.labels.push_back(word);
  chart.labels.emplace_back("all others");
  chart.series = {{"0.5", by_temperature[0], plot::Colour{150, 196, 226}},
                  {"1", by_temperature[1], plot::series_colour(0)},  // of the other chart's model
                  {"2", by_temperature[2], plot::Colour{20, 50, 92}}};
  return chart;
}

}  // namespace

plot::Canvas generation_picture(const std::string& text, const WordShares& allowed,
                                const std::vector<std::vector<double>>& by_temperature) {
  const auto fits = [&](const std::vector<double>& p) { return p.size() == allowed.size() + 1; };
  if (by_temperature.size() != 3 || !std::ranges::all_of(by_temperature, fits)) {
    throw Error("generation_picture: needs three temperatures, with a number for each word.");
  }
  plot::Canvas canvas(900, 680);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 2, 1);
  std::vector<double> by_model = by_temperature[1];
  by_model.pop_back();
  plot::BarChart charts[] = {next_word_chart(text, allowed, by_model),
                             temperature_chart(text, allowed, by_temperature)};
  double most = 0;
  for (const plot::BarChart& chart : charts) {
    for (const plot::BarSeries& series : chart.series) {
      most = std::max(most, std::ranges::max(series.values));
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {  // the same scale, with room for numbers above the bars
    charts[i].y_axis = {.name = "probability", .low = 0, .high = 1.15 * most};
    plot::draw(canvas, panels[i], charts[i]);
  }
  return canvas;
}

}  // namespace tapestry
