#include "course/sparse_mask_pictures.hpp"

#include "course/number_word.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry {
namespace {

plot::Heatmap map_of_shares(const std::vector<NamedMask>& masks,
                            const std::vector<Index>& distances, const std::vector<double>& shares,
                            Index seeds) {
  plot::Heatmap map;
  map.values = shares;
  for (const NamedMask& one : masks) map.row_labels.push_back(one.name);
  for (const Index distance : distances) map.column_labels.push_back(std::to_string(distance));
  map.rows = std::ssize(masks);
  map.columns = std::ssize(distances);
  map.title = "Share right, two layers";
  map.subtitle =
      "guessing: 0.12; of " + number_word(seeds) + " seeds the worse, out of reach the better";
  map.row_axis = "";
  map.column_axis = "how many places back the letter stands";
  map.low = 0;
  map.high = 1;
  map.colour_bar = false;
  return map;
}

plot::LineChart chart_of_times(const std::vector<plot::Series>& times) {
  plot::LineChart chart;
  chart.title = "Time, as a share of all before";
  chart.subtitle = "fused attention, forward and backward; on one machine";
  chart.x_axis = {.name = "places", .log = true, .low = 400, .high = 5000};
  chart.y_axis = {.name = "share of the time", .log = true, .low = 0.01, .high = 5};
  chart.series = times;
  for (plot::Series& series : chart.series) series.markers = true;
  return chart;
}

}  // namespace

plot::Canvas sparse_masks(const std::vector<NamedMask>& masks, const std::vector<Index>& distances,
                          const std::vector<double>& shares, Index seeds,
                          const std::vector<plot::Series>& times) {
  plot::Canvas canvas(1240, 760);
  const plot::Rect area = canvas.area().inset(16);
  const plot::Rect top{area.x, area.y, area.width, 330};
  const std::vector<plot::Rect> above = plot::panels(top, 1, static_cast<int>(masks.size()));
  const std::vector<std::string> places(16);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    plot::Heatmap map = mask_heatmap(masks[i].mask, places, places, masks[i].name);
    map.row_labels = map.column_labels = {};  // the numbers of the places
    plot::draw(canvas, above[i], map);
  }
  const plot::Rect bottom{area.x, top.bottom() + 16, area.width, area.bottom() - top.bottom() - 16};
  plot::draw(canvas, {bottom.x, bottom.y, 690, bottom.height},
             map_of_shares(masks, distances, shares, seeds));
  plot::draw(canvas, {bottom.x + 710, bottom.y, bottom.width - 710, bottom.height},
             chart_of_times(times));
  return canvas;
}

}  // namespace tapestry
