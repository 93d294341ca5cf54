#include "course/causal_pictures.hpp"

#include <array>

#include "tapestry/error.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/heatmap.hpp"

namespace tapestry {
namespace {

constexpr std::array places = {"1st", "2nd", "3rd", "4th", "5th", "6th", "<eos>"};

void add_series(plot::BarChart& chart, const NamedNumbers& all) {
  for (const auto& [name, numbers] : all) chart.series.push_back({name, numbers});
}

plot::BarChart chart_of_losses(const NamedNumbers& losses) {
  plot::BarChart chart{.title = "The loss of each word"};
  chart.subtitle = "one model, trained with the mask";
  chart.label_axis = "the word that is guessed";
  chart.y_axis.name = "loss";
  chart.labels.assign(places.begin(), places.end());
  add_series(chart, losses);
  return chart;
}

plot::BarChart chart_of_tasks(const WithoutMask& measured) {
  plot::BarChart chart{.title = "Models that look back for each letter"};
  chart.subtitle = "the mask is left ...";
  chart.y_axis = {.name = "answers wholly right, %", .low = 0, .high = 105};
  chart.labels = measured.tasks;
  chart.digits = 0;
  add_series(chart, measured.right);
  // The first is with the mask, the last without it, in the colours of the losses; the others have
  // none of these.
  for (std::size_t i = 1; i < chart.series.size(); ++i) {
    const bool is_last = i + 1 == chart.series.size();
    chart.series[i].colour = plot::series_colour(is_last ? 1 : i + 2);
  }
  return chart;
}

// The last key is crossed out if the mask hides it.
plot::Heatmap map_of_heads(const Tensor& weights, const char* title, bool is_hidden) {
  plot::Heatmap map{.rows = weights.size(0), .columns = weights.size(1)};
  map.values = doubles(weights);
  map.column_labels = {"<bos>"};
  for (Index key = 0; key + 1 < map.columns; ++key) map.column_labels.push_back(places.at(key));
  for (Index head = 0; head < map.rows; ++head) {
    map.row_labels.push_back("0." + std::to_string(head));
    for (Index key = 1; key <= map.columns; ++key) {
      map.masked.push_back(is_hidden && key == map.columns);
    }
  }
  map.title = title;
  map.row_axis = "head";
  map.column_axis = "";
  map.low = 0;
  map.high = 1;
  map.colour_bar = false;
  return map;
}

}  // namespace

plot::Canvas without_mask_picture(const WithoutMask& measured) {
  plot::Canvas canvas(1240, 1130);
  const std::vector<plot::Rect> rows = plot::panels(canvas.area().inset(16), 3, 1);
  const std::vector<plot::Rect> maps = plot::panels(rows[1], 1, 2);
  plot::draw(canvas, rows[0], chart_of_losses(measured.losses));
  plot::draw(canvas, maps[0],
             map_of_heads(measured.with, "Where the 6th word is guessed: with the mask", true));
  plot::draw(canvas, maps[1], map_of_heads(measured.without, "... and without it", false));
  plot::draw(canvas, rows[2], chart_of_tasks(measured));
  return canvas;
}

plot::Canvas deciding_word_bars(const std::vector<std::vector<double>>& columns, double even) {
  if (columns.size() != 6) throw Error("deciding_word_bars: needs six columns.");
  plot::Canvas canvas(1240, 400);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  for (std::size_t role = 0; role < 2; ++role) {
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(3 * role);
    plot::BarChart chart;
    chart.title = role == 0 ? "Weight on the verb, before an object"
                            : "Weight on the preposition, before a place";
    chart.label_axis = "layer.head";
    chart.y_axis = {.name = "attention weight", .low = 0, .high = 1};
    for (std::size_t head = 0; head < first->size(); ++head) {
      chart.labels.push_back(std::to_string(head / 4) + "." + std::to_string(head % 4));
    }
    chart.series = {{"trained", first[0]}, {"untrained", first[1]}, {"shuffled words", first[2]}};
    chart.reference_lines = {{even, "even"}};
    plot::draw(canvas, panels[role], chart);
  }
  return canvas;
}

}  // namespace tapestry
