#include "course/zoo.hpp"

#include <cmath>

#include "course/grammar.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/heatmap.hpp"

namespace tapestry {
namespace {

constexpr double scale = 1.5;  // pixels of a unit
const char* const left_title = "What is wrong here?";
const char* const right_title = "The same without the mistake";

plot::Heatmap heatmap(const ZooCase& one, const Tensor& values, const char* title) {
  plot::Heatmap map = attention_heatmap(values, one.words, one.words, title);  // (n, n)
  map.colour_bar = false;
  for (const double value : map.values) map.masked.push_back(value == 0);
  map.subtitle = "attention weights; crossed: exactly 0";
  if (one.kind == ZooKind::map) return map;
  map.high = {};
  map.subtitle = "‖∂y_i / ∂x_j‖; crossed: exactly 0";
  map.row_axis = "output y_i";
  map.column_axis = "input x_j";
  return map;
}

// (maps, n, n), the maps one below the other.
plot::Canvas draw_maps(const ZooCase& one, const Tensor& broken, const Tensor& right) {
  const int maps = static_cast<int>(broken.size(0));
  plot::Canvas canvas(920, 30 + 440 * maps, scale);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), maps, 2);
  for (int i = 0; i < maps; ++i) {
    const auto draw = [&](const Tensor& all, int column, const char* title) {
      const Tensor values = squeeze(slice(all, 0, i, i + 1), 0).contiguous();  // (n, n)
      plot::draw(canvas, panels[static_cast<std::size_t>(2 * i + column)],
                 heatmap(one, values, i == 0 ? title : ""));
    };
    draw(broken, 0, left_title);
    draw(right, 1, right_title);
  }
  return canvas;
}

plot::Series curve(const Tensor& losses, const char* name) {
  plot::Series series;
  series.name = name;
  series.y = doubles(losses);
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    series.x.push_back(static_cast<double>(i + 1));
  }
  return series;
}

plot::Canvas draw_losses(const ZooPair& pair) {
  plot::LineChart chart;
  chart.title = left_title;
  chart.subtitle = "a small transformer learns to predict the next word";
  chart.x_axis.name = "step";
  const bool is_high = max(pair.right).item() > 8;  // the rate was too high on purpose
  chart.y_axis = {"loss in nats", is_high, is_high ? 1 : 0, {}};
  if (!is_high) chart.y_axis.high = 6;
  chart.series = {curve(pair.right, "without the mistake"), curve(pair.broken, "with it")};
  chart.series[0].colour = plot::theme::frame;
  chart.series[1].colour = plot::series_colour(1);
  chart.reference_lines = {{Grammar().entropy() / 7, "the best possible"}};
  return plot::render(chart, 720, 460, scale);
}

}  // namespace

std::vector<ZooCase> zoo() {
  std::vector<ZooCase> all = zoo_maps();
  for (const auto& more : {zoo_losses(), zoo_jacobians()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

plot::Canvas zoo_picture(const ZooCase& one, const ZooPair& pair) {
  switch (one.kind) {
    case ZooKind::map:
      return draw_maps(one, pair.broken, pair.right);
    case ZooKind::jacobian:
      return draw_maps(one, unsqueeze(pair.broken, 0), unsqueeze(pair.right, 0));
    case ZooKind::loss:
      break;
  }
  return draw_losses(pair);
}

}  // namespace tapestry
