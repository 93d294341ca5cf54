#include "course/induction_pictures.hpp"

#include "tapestry/plot/charts.hpp"

namespace tapestry {
namespace {

plot::LineChart chart_of(const std::vector<InductionKind>& kinds, const char* title,
                         const char* subtitle, std::vector<double> (*curve)(const InductionRun&)) {
  plot::LineChart chart{.title = title, .subtitle = subtitle, .x_axis = {"step"}};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::string name = kinds[k].name;
    for (const InductionRun& run : kinds[k].runs) {
      chart.series.push_back(
          {.name = name, .x = run.at, .y = curve(run), .colour = plot::series_colour(k)});
      name = "";  // once in the legend
    }
  }
  return chart;
}

}  // namespace

plot::Canvas induction_picture(const std::vector<InductionKind>& kinds, double guessing) {
  plot::LineChart charts[] = {
      chart_of(kinds, "Loss", "on repetitions that were not trained on",
               [](const InductionRun& run) { return run.loss; }),
      chart_of(kinds, "Induction score", "best head of the last layer",
               [](const InductionRun& run) { return run.best_induction(); }),
      chart_of(kinds, "Previous-letter score", "best head of layer 0",
               [](const InductionRun& run) { return run.best_previous(); })};
  charts[0].y_axis = {.name = "nats", .low = 0};
  charts[1].y_axis = charts[2].y_axis = {.name = "score", .low = 0, .high = 0.8};
  charts[0].reference_lines = {{.y = guessing, .label = "guessing"}};
  plot::Canvas canvas(1500, 560, 1);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 1, 3);
  for (std::size_t i = 0; i < areas.size(); ++i) plot::draw(canvas, areas[i], charts[i]);
  return canvas;
}

}  // namespace tapestry
