#include "course/summary_pictures.hpp"

#include <cmath>

#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry {
namespace {

constexpr plot::Colour trained_colour{17, 102, 168}, untrained_colour{196, 201, 209},
    mixed_colour{214, 120, 40};

}  // namespace

plot::Heatmap word_map(const Tensor& weights, const Words& words, const std::string& title,
                       const std::string& finding) {
  plot::Heatmap map = attention_heatmap(weights, words, words, title);
  map.subtitle = finding;
  map.row_axis = "query: the word that looks";
  map.column_axis = "key: where it looks";
  map.colour_bar = false;
  if (words.size() > 6) map.print = plot::PrintValues::never;
  return map;
}

plot::Heatmap causal_map(const Tensor& weights, const Words& words, const std::string& title,
                         const std::string& finding) {
  plot::Heatmap map = word_map(weights, words, title, finding);
  for (Index at = 0; at < map.rows * map.columns; ++at) {
    map.masked.push_back(at % map.columns > at / map.columns);
  }
  return map;
}

plot::Heatmap derivative_map(const Tensor& norms, const Words& words, const std::string& finding) {
  plot::Heatmap map =
      word_map(norms / max(norms), words, "No derivative by a later letter", finding);
  for (double& value : map.values) value = value == 0 ? NAN : value;
  map.row_axis = "output";
  map.column_axis = "letter that was read";
  return map;
}

plot::HeatmapGrid head_maps(const Tensor& weights, const Words& words, const std::string& finding) {
  plot::HeatmapGrid grid{.columns = 2, .maps = {}, .title = "Several heads share the work"};
  grid.subtitle = finding;
  for (Index head = 0; head < weights.size(0); ++head) {
    const Tensor map = squeeze(slice(weights, 0, head, head + 1), 0);  // (words, words)
    grid.maps.push_back(word_map(map, words, "head " + std::to_string(head)));
  }
  return grid;
}

plot::LineChart scale_chart(const std::vector<double>& d_k, const std::vector<double>& divided,
                            const std::vector<double>& not_divided, const std::string& finding) {
  plot::LineChart chart{.title = "Why scores are divided by √d_k", .subtitle = finding};
  chart.x_axis = {.name = "d_k", .log = true, .low = {}, .high = {}};
  chart.y_axis = {.name = "largest of 16 weights, mean", .log = false, .low = 0, .high = 1};
  chart.series = {{"divided", d_k, divided}, {"not divided", d_k, not_divided}};
  for (plot::Series& series : chart.series) series.markers = true;
  chart.series[0].colour = plot::series_colour(3);  // as in steps 13, 17 and 56
  chart.series[1].colour = plot::series_colour(2);
  return chart;
}

plot::BarChart width_chart(const std::vector<double>& trained, const std::vector<double>& untrained,
                           const std::string& finding) {
  plot::BarChart chart{.title = "Trained heads look at less", .subtitle = finding};
  chart.labels = {"0", "1", "2", "3"};
  chart.series = {{"trained", trained, trained_colour}, {"untrained", untrained, untrained_colour}};
  chart.label_axis = "head";
  chart.y_axis = {.name = "words looked at, in effect", .log = false, .low = 0, .high = 7};
  chart.digits = 1;
  return chart;
}

plot::BarChart name_chart(const std::vector<double>& trained, const std::vector<double>& untrained,
                          const std::vector<double>& mixed, const std::string& finding) {
  plot::BarChart chart{.title = "A name needs baselines", .subtitle = finding};
  chart.labels = {"0.0", "0.1", "0.2", "0.3", "1.0", "1.1", "1.2", "1.3"};
  chart.series = {{"trained", trained, trained_colour},
                  {"untrained", untrained, untrained_colour},
                  {"old place, letters mixed", mixed, mixed_colour}};
  chart.label_axis = "layer.head";
  chart.y_axis = {.name = "weight on what followed before", .log = false, .low = 0, .high = 1};
  chart.print_values = false;
  return chart;
}

plot::LineChart cut_chart(const std::vector<double>& weights, const std::vector<double>& falls,
                          const std::string& finding) {
  plot::LineChart chart{.title = "Cut a link: what is lost?", .subtitle = finding};
  chart.x_axis = {.name = "weight of a link from the last letter", .low = 0, .high = 1};
  chart.y_axis.name = "cut: the right logit falls by";
  chart.series = {{"a link of layer 1", weights, falls, false, true, false, trained_colour}};
  return chart;
}

}  // namespace tapestry
