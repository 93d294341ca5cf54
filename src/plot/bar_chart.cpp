#include <algorithm>
#include <cmath>
#include <optional>

#include "plot/axes.hpp"
#include "plot/frame.hpp"
#include "plot/group_labels.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

void check(const BarChart& chart) {
  if (chart.labels.empty() || chart.series.empty()) {
    throw Error("bar chart: there is nothing to draw; give at least one label and one series");
  }
  if (chart.y_axis.log) throw Error("bar chart: bars start at 0, which a log axis lacks");
  for (const BarSeries& series : chart.series) {
    if (series.values.size() == chart.labels.size()) continue;
    throw Error("bar chart: series \"" + series.name + "\" has " +
                std::to_string(series.values.size()) + " values for " +
                std::to_string(chart.labels.size()) + " labels; there must be one per label");
  }
}

Range y_range(const BarChart& chart) {
  std::vector<double> values{0};
  for (const BarSeries& series : chart.series) {
    values.insert(values.end(), series.values.begin(), series.values.end());
  }
  for (const ReferenceLine& line : chart.reference_lines) values.push_back(line.y);
  Range range = settle(chart.y_axis, values, "bar chart");
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  range.low = std::min(range.low, 0.0);
  range.high = std::max(range.high, 0.0);
  if (*least == 0 && *most == 0 && !chart.y_axis.low) range.low = 0;
  return range;
}

Colour colour_of(const BarChart& chart, std::size_t series) {
  return chart.series[series].colour.value_or(series_colour(series));
}

std::vector<LegendEntry> legend_of(const BarChart& chart) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (chart.series[i].name.empty()) continue;
    entries.push_back({chart.series[i].name, colour_of(chart, i), false, false, false});
  }
  for (const ReferenceLine& line : chart.reference_lines) {
    if (!line.label.empty()) entries.push_back({line.label, line.colour, true, false, true});
  }
  return entries;
}

struct Bars {
  double group = 0, bar = 0;         // widths
  std::optional<double> value_size;  // of the printed values, if they fit
};

Bars bars_for(const BarChart& chart, double width) {
  Bars bars;
  bars.group = width / static_cast<double>(chart.labels.size());
  bars.bar = std::min(64.0, 0.76 * bars.group / static_cast<double>(chart.series.size()));
  std::vector<std::string> texts;
  for (const BarSeries& series : chart.series) {
    for (const double value : series.values) texts.push_back(number_text(value, chart.digits));
  }
  const double room = chart.series.size() == 1 ? 0.96 * bars.group : 0.97 * bars.bar;
  const double size = std::min(type::small + 1, room / widest(texts, {1}));
  if (chart.print_values && size >= 7.5) bars.value_size = size;
  return bars;
}

// The rectangle of the bar of one value; of height 0 when the value is not finite.
Rect bar_place(const Axes& axes, const BarChart& chart, const Bars& bars, std::size_t group,
               std::size_t series) {
  const double value = chart.series[series].values[group];
  const double middle = axes.plot.x + (static_cast<double>(group) + 0.5) * bars.group;
  const double first = middle - bars.bar * static_cast<double>(chart.series.size()) / 2;
  const auto level = [&](double v) {
    return axes.plot.bottom() - std::clamp(axes.y.share(v), 0.0, 1.0) * axes.plot.height;
  };
  const double zero = level(0), end = std::isfinite(value) ? level(value) : zero;
  return {first + static_cast<double>(series) * bars.bar, std::min(zero, end), bars.bar,
          std::abs(zero - end)};
}

void draw_bar(Canvas& canvas, Rect place, const BarChart& chart, std::size_t series) {
  const double gap = chart.series.size() > 1 ? std::min(1.5, 0.08 * place.width) : 0;
  place.x += gap / 2;
  place.width -= gap;
  canvas.fill_rect(canvas.snap(place), colour_of(chart, series));
}

// On a patch of background, so that a reference line does not cross the number.
void draw_value(Canvas& canvas, const Rect& place, double value, int digits, double size) {
  const bool below = value < 0 && std::isfinite(value);
  const std::string text = number_text(value, digits);
  const TextStyle style{size, theme::ink, false, Align::centre, VerticalAlign::middle};
  const Point at{place.centre().x, below ? place.bottom() + 9 : place.y - 9};
  const double width = std::min(measure_text(text, style).width + 2, place.width);
  canvas.fill_rect({at.x - width / 2, at.y - 0.55 * size, width, 1.1 * size}, theme::paper, 2);
  canvas.text(at, text, style, Role::value);
}

// Room at both ends of the range for values printed beyond the bars.
void widen_for_values(const BarChart& chart, Range& range, double height) {
  const double text = (type::small + 11) / height * (range.high - range.low);
  double most = 0;
  for (const BarSeries& series : chart.series) {
    for (const double value : series.values) {
      if (!std::isfinite(value)) continue;
      most = std::max(most, value);
      if (!chart.y_axis.low && value < 0) range.low = std::min(range.low, value - text);
    }
  }
  if (!chart.y_axis.high) range.high = std::max(range.high, most + text);
}

// Bars, then the lines across them, then the numbers on top.
void draw_bars(Canvas& canvas, const Axes& axes, const BarChart& chart, const Bars& bars) {
  const auto each = [&](const auto& visit) {
    for (std::size_t i = 0; i < chart.labels.size(); ++i) {
      for (std::size_t k = 0; k < chart.series.size(); ++k) {
        visit(bar_place(axes, chart, bars, i, k), i, k);
      }
    }
  };
  each([&](const Rect& place, std::size_t, std::size_t k) { draw_bar(canvas, place, chart, k); });
  const double zero = axes.plot.bottom() - axes.y.share(0) * axes.plot.height;
  canvas.line({axes.plot.x, zero}, {axes.plot.right(), zero}, {theme::frame, 1});
  draw_reference_lines(canvas, axes, chart.reference_lines);
  if (!bars.value_size) return;
  each([&](const Rect& place, std::size_t i, std::size_t k) {
    draw_value(canvas, place, chart.series[k].values[i], chart.digits, *bars.value_size);
  });
}

}  // namespace

void draw(Canvas& canvas, Rect area, const BarChart& chart) {
  check(chart);
  Axes axes{};
  axes.y = y_range(chart);
  Rect room = draw_title(canvas, area, chart.title, chart.subtitle);
  room = draw_legend(canvas, room, legend_of(chart));
  const Ticks ticks = ticks_for(axes.y, room.height - 40, 34);
  const double left = y_axis_room(ticks, chart.y_axis.name), width = room.width - left - 12;
  const Bars bars = bars_for(chart, width);
  const GroupLabels labels = group_labels(chart.labels, bars.group);
  const double below = labels.height + (chart.label_axis.empty() ? 0 : 22);
  axes.plot = canvas.snap(Rect{room.x + left, room.y + 7, width, room.height - below - 7});
  if (axes.plot.width < 20 || axes.plot.height < 20) {
    throw Error("bar chart: the area is too small for title, legend and labels; give it more room");
  }
  if (bars.value_size) widen_for_values(chart, axes.y, axes.plot.height);
  draw_y_axis(canvas, axes, ticks, chart.y_axis.name);
  draw_bars(canvas, axes, chart, bars);
  draw_group_labels(canvas, {axes.plot.x, axes.plot.bottom()}, labels);
  const TextStyle style{type::label, theme::faded, false, Align::centre, VerticalAlign::middle};
  canvas.text({axes.plot.centre().x, axes.plot.bottom() + below - 8}, chart.label_axis, style,
              Role::x_axis);
}

Canvas render(const BarChart& chart, double width, double height, double scale) {
  Canvas canvas(width, height, scale);
  draw(canvas, canvas.area().inset(margin), chart);
  return canvas;
}

}  // namespace tapestry::plot
