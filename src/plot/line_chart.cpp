#include <algorithm>
#include <cmath>

#include "plot/axes.hpp"
#include "plot/end_labels.hpp"
#include "plot/frame.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

void check(const LineChart& chart) {
  if (chart.series.empty() && chart.annotations.empty()) {
    throw Error("line chart: there is no series to draw; add one with x and y values");
  }
  for (const Series& series : chart.series) {
    if (series.x.size() == series.y.size()) continue;
    throw Error("line chart: series \"" + series.name + "\" has " +
                std::to_string(series.x.size()) + " x values but " +
                std::to_string(series.y.size()) + " y values; they must be as many");
  }
}

// All values of one coordinate at points where both coordinates are on their axes.
std::vector<double> values_of(const LineChart& chart, bool of_x) {
  std::vector<double> values;
  const auto add = [&](double x, double y) {
    if (!has_place(x, chart.x_axis.log) || !has_place(y, chart.y_axis.log)) return;
    values.push_back(of_x ? x : y);
  };
  for (const Series& series : chart.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) add(series.x[i], series.y[i]);
  }
  for (const Annotation& note : chart.annotations) add(note.x, note.y);
  if (!of_x) {
    for (const ReferenceLine& line : chart.reference_lines) values.push_back(line.y);
  }
  return values;
}

Colour colour_of(const LineChart& chart, std::size_t i) {
  return chart.series[i].colour.value_or(series_colour(i));
}

std::vector<LegendEntry> legend_of(const LineChart& chart) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    if (series.name.empty()) continue;
    entries.push_back(
        {series.name, colour_of(chart, i), series.line, series.markers, series.dashed});
  }
  for (const ReferenceLine& line : chart.reference_lines) {
    if (!line.label.empty()) entries.push_back({line.label, line.colour, true, false, true});
  }
  return entries;
}

std::vector<Point> points_of(const Series& series, const Axes& axes) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    points.push_back(axes.at(series.x[i], series.y[i]));
  }
  return points;
}

bool is_finite(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }

void draw_series(Canvas& canvas, const Axes& axes, const Series& series, Colour colour) {
  const std::vector<Point> points = points_of(series, axes);
  canvas.set_clip(axes.plot.inset(-2));
  if (series.line) canvas.polyline(points, {colour, 2.2, series.dashed ? 5.0 : 0.0});
  canvas.set_clip(axes.plot.inset(-6));
  for (std::size_t i = 0; i < points.size(); ++i) {
    // A point between two gaps would be invisible as a line.
    const bool isolated = (i == 0 || !is_finite(points[i - 1])) &&
                          (i + 1 == points.size() || !is_finite(points[i + 1]));
    if (!series.markers && !isolated) continue;
    canvas.fill_circle(points[i], 4.6, theme::paper);
    canvas.fill_circle(points[i], 3.6, colour);
  }
  canvas.set_clip(std::nullopt);
}

// Points every few units along all lines, as obstacles for annotations.
std::vector<Point> obstacles_of(const LineChart& chart, const Axes& axes) {
  std::vector<Point> obstacles;
  for (const Series& series : chart.series) {
    const std::vector<Point> points = points_of(series, axes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (is_finite(points[i])) obstacles.push_back(points[i]);
      if (i == 0 || !series.line) continue;
      const Point from = points[i - 1], to = points[i];
      const double length = std::hypot(to.x - from.x, to.y - from.y);
      if (!std::isfinite(length)) continue;
      const int pieces = static_cast<int>(std::min(1000.0, length / 5));
      for (int k = 1; k < pieces; ++k) {
        obstacles.push_back(between(from, to, static_cast<double>(k) / pieces));
      }
    }
  }
  return obstacles;
}

// The names of all lines that are seen, where they end.
std::vector<EndLabel> end_labels_of(const LineChart& chart, const Axes& axes) {
  std::vector<EndLabel> labels;
  const auto add = [&](const std::string& name, Point end, Colour colour) {
    if (!name.empty() && axes.plot.inset(-0.5).contains(end)) labels.push_back({name, end, colour});
  };
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    std::vector<Point> points = points_of(chart.series[i], axes);
    std::erase_if(points, [](Point p) { return !is_finite(p); });
    if (!points.empty()) add(chart.series[i].name, points.back(), colour_of(chart, i));
  }
  for (const ReferenceLine& line : chart.reference_lines) {
    add(line.label,
        {axes.plot.right(), axes.plot.bottom() - axes.y.share(line.y) * axes.plot.height},
        line.colour);
  }
  return labels;
}

}  // namespace

void draw(Canvas& canvas, Rect area, const LineChart& chart) {
  check(chart);
  Axes axes{};
  axes.y = settle(chart.y_axis, values_of(chart, false), "line chart");
  axes.x = settle(chart.x_axis, values_of(chart, true), "line chart", !chart.x_axis.log);
  Rect room = draw_title(canvas, area, chart.title, chart.subtitle);
  const std::vector<LegendEntry> names = legend_of(chart);
  if (!chart.end_labels) room = draw_legend(canvas, room, names);
  const double below = x_axis_room(chart.x_axis.name), top = 7;
  const Ticks y_ticks = ticks_for(axes.y, room.height - below, 34);
  const double left = y_axis_room(y_ticks, chart.y_axis.name);
  const double right = chart.end_labels ? end_label_room(names) : 16;
  axes.plot = canvas.snap(
      Rect{room.x + left, room.y + top, room.width - left - right, room.height - below - top});
  if (axes.plot.width < 20 || axes.plot.height < 20) {
    throw Error("line chart: the area is too small for title, legend and axes; give it more room");
  }
  draw_y_axis(canvas, axes, y_ticks, chart.y_axis.name);
  draw_x_axis(canvas, axes, ticks_for(axes.x, axes.plot.width, 62), chart.x_axis.name);
  draw_reference_lines(canvas, axes, chart.reference_lines);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    draw_series(canvas, axes, chart.series[i], colour_of(chart, i));
  }
  draw_annotations(canvas, axes, chart.annotations, obstacles_of(chart, axes));
  if (chart.end_labels) draw_end_labels(canvas, axes.plot, end_labels_of(chart, axes));
}

Canvas render(const LineChart& chart, double width, double height, double scale) {
  Canvas canvas(width, height, scale);
  draw(canvas, canvas.area().inset(margin), chart);
  return canvas;
}

}  // namespace tapestry::plot
