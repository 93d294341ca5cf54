#include "course/position_pictures.hpp"

#include <algorithm>
#include <string>

#include "course/beyond_length.hpp"
#include "course/number_word.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry::beyond_length {
namespace {

// In shades of orange, which is the colour of sinusoids in all panels.
plot::LineChart chart_of(const std::string& title, const std::vector<Tensor>& curves) {
  plot::LineChart chart;
  chart.title = title;
  chart.x_axis.name = "position";
  const double last = std::max(1.0, static_cast<double>(curves.size()) - 1);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    plot::Series curve{"", doubles(Tensor::arange(curves[i].numel())), doubles(curves[i])};
    const double shade = 0.42 + 0.5 * static_cast<double>(i) / last;
    curve.colour = plot::colour_at(plot::ColourMap::oranges, shade);
    chart.series.push_back(curve);
  }
  return chart;
}

plot::LineChart four_columns(const Tensor& p) {
  std::vector<Tensor> sines;
  for (const Index column : {0, 4, 8, 12}) sines.push_back(slice(p, 1, column, column + 1));
  const std::string title = "Sinusoids: four of " + std::to_string(p.size(1)) + " columns";
  plot::LineChart chart = chart_of(title, sines);
  chart.end_labels = true;
  for (std::size_t i = 0; i < 4; ++i) chart.series[i].name = "sine " + std::to_string(4 * i);
  return chart;
}

plot::Heatmap all_columns(const Tensor& p) {
  plot::Heatmap map;
  map.rows = p.size(0);
  map.columns = p.size(1);
  map.values = doubles(p);
  map.title = "All columns, sines and cosines by turns";
  map.row_axis = "position";
  map.column_axis = "column";
  map.colours = plot::ColourMap::oranges;
  map.low = -1;
  return map;
}

plot::LineChart products(const std::map<Index, Tensor>& alike, double width) {
  std::vector<Tensor> curves;
  for (const auto& [m, curve] : alike) curves.push_back(curve);
  plot::LineChart chart = chart_of("How alike positions m and n are", curves);
  chart.subtitle = "p(m) · p(n): one curve, moved to where n = m";
  chart.x_axis.name = "position n";
  chart.y_axis = {.name = "", .low = 0, .high = width / 2 + 2};
  for (const auto& [m, curve] : alike) {  // named at its peak
    chart.annotations.push_back({double(m), width / 2, "m = " + std::to_string(m), false});
  }
  return chart;
}

}  // namespace

plot::LineChart shares_chart(const std::string& title, const std::vector<Tensor>& shares,
                             const std::vector<double>& without_order, double chance) {
  plot::LineChart chart;
  chart.title = title;
  const Index seeds = shares.empty() ? 0 : shares[0].size(0);
  chart.subtitle = "trained on " + std::to_string(trained) +
                   " words; lines: means, dots: " + number_word(seeds) + " seeds";
  chart.x_axis = {.name = "words", .low = 10, .high = 65};
  chart.y_axis = {.name = "right at the last eight words", .low = 0, .high = 1.02};
  const std::vector<double> x(lengths.begin(), lengths.end());
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const plot::Colour colour = plot::series_colour(s);
    for (const Tensor& seed : split(shares[s], shares[s].size(0), 0)) {  // (1, lengths)
      chart.series.push_back({"", x, doubles(seed), false, true, false, colour});
    }
    const std::vector<double> means = doubles(mean(shares[s], 0));  // (lengths)
    chart.series.push_back({schemes[s], x, means, true, false, false, colour});
  }
  chart.series.push_back(
      {"without order", x, without_order, true, false, false, plot::theme::faded});
  chart.reference_lines = {{chance, "guessing"}};
  return chart;
}

plot::Canvas positions_picture(const Tensor& p, const std::map<Index, Tensor>& alike,
                               const plot::LineChart& first, const plot::LineChart& second) {
  plot::Canvas canvas(1560, 1020);
  const std::vector<plot::Rect> rows = plot::panels(canvas.area().inset(16), 2, 1);
  const std::vector<plot::Rect> top = plot::panels(rows[0], 1, 3);
  plot::draw(canvas, top[0], four_columns(p));
  plot::draw(canvas, top[1], all_columns(p));
  plot::draw(canvas, top[2], products(alike, double(p.size(1))));
  const std::vector<plot::Rect> bottom = plot::panels(rows[1], 1, 2);
  plot::draw(canvas, bottom[0], first);
  plot::draw(canvas, bottom[1], second);
  return canvas;
}

}  // namespace tapestry::beyond_length
