#include "course/head_pictures.hpp"

#include "course/head_kinds.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry {

plot::HeatmapGrid score_maps(const NamedScores& all) {
  plot::HeatmapGrid grid{.columns = std::ssize(head_kinds)};
  for (const auto& [name, scores] : all) {
    for (const Tensor& of_kind : split(mean(scores, -1), std::ssize(head_kinds), 0)) {
      plot::Heatmap map{.rows = of_kind.size(1), .columns = of_kind.size(2)};
      for (const real value : of_kind.values()) map.values.push_back(double{value});
      const std::size_t kind = grid.maps.size() % head_kinds.size();
      map.title = to_string(head_kinds[kind]) + ": " + name;
      map.row_axis = "layer", map.column_axis = "head", map.colour_bar_name = "mean weight";
      map.low = 0, map.high = 1;
      grid.maps.push_back(map);
    }
  }
  return grid;
}

plot::Canvas bars_of_cuts(const std::vector<CutGroup>& groups) {
  const char* const titles[] = {"Without heads: pieces read again",
                                "The same pieces behind another of their own story",
                                "The same pieces behind one of another story"};
  plot::Canvas canvas(800, 1100, 2);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(12), 3, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    plot::BarChart chart{.title = titles[i], .y_axis = {"ln p falls by", false, -0.1, 0.85}};
    chart.series = {{"joint"}, {"one by one, summed"}, {"random, same layers"}};
    for (const CutGroup& group : groups) {
      const GroupCost& cost = group.costs.at(i);
      chart.labels.push_back(group.name);
      chart.series[0].values.push_back(cost.joint);
      chart.series[1].values.push_back(cost.sum);
      chart.series[2].values.push_back(cost.others.mean);
    }
    plot::draw(canvas, areas[i], chart);
  }
  return canvas;
}

}  // namespace tapestry
