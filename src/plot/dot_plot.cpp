#include "tapestry/plot/dot_plot.hpp"

#include <algorithm>
#include <cmath>

#include "plot/axes.hpp"
#include "plot/dot_plot_lanes.hpp"
#include "plot/frame.hpp"
#include "plot/group_labels.hpp"
#include "plot/utf8.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr double longest_label = 150, note_line = 14;
const TextStyle note_style{type::small, theme::ink};

std::string in_one_line(const Notes& notes) {
  std::string line;
  for (const std::string& note : notes) line += (line.empty() ? "" : ", ") + note;
  return line;
}

void check(const DotPlot& chart) {
  if (chart.labels.empty() || chart.series.empty()) {
    throw Error("dot plot: there is nothing to draw; give at least one label and one series");
  }
  for (const RunSeries& series : chart.series) {
    const std::string name = "dot plot: series \"" + series.name + "\" has ";
    if (series.groups.size() != chart.labels.size()) {
      throw Error(name + std::to_string(series.groups.size()) + " groups of runs for " +
                  std::to_string(chart.labels.size()) + " labels; there must be one per label");
    }
    for (std::size_t i = 0; i < series.groups.size(); ++i) {
      for (const double limit : series.groups[i].censored) {
        if (has_place(limit, chart.value_axis.log)) continue;
        throw Error(name + "a run at \"" + chart.labels[i] +
                    "\" that was censored where its axis has no place; give the limit, " +
                    (chart.value_axis.log ? "a positive number" : "a finite number"));
      }
    }
  }
}

// Of all dots, whiskers and reference lines.
Range value_range(const DotPlot& chart) {
  std::vector<double> values;
  for (const RunSeries& series : chart.series) {
    for (const Runs& runs : series.groups) {
      values.insert(values.end(), runs.values.begin(), runs.values.end());
      values.insert(values.end(), runs.censored.begin(), runs.censored.end());
      const MeanInterval interval = shown_interval(runs);
      values.insert(values.end(), {interval.low, interval.high});
    }
  }
  for (const ReferenceLine& line : chart.reference_lines) values.push_back(line.y);
  return settle(chart.value_axis, values, "dot plot");
}

Colour colour_of(const DotPlot& chart, std::size_t series) {
  return chart.series[series].colour.value_or(series_colour(series));
}

// Whether a group has such runs.
template <class Predicate>
bool any_runs(const DotPlot& chart, Predicate predicate) {
  return std::any_of(chart.series.begin(), chart.series.end(), [&](const RunSeries& series) {
    return std::any_of(series.groups.begin(), series.groups.end(), predicate);
  });
}

bool is_censored(const Runs& runs) { return !runs.censored.empty(); }

std::vector<LegendEntry> legend_of(const DotPlot& chart) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (chart.series[i].name.empty()) continue;
    entries.push_back({.name = chart.series[i].name,
                       .colour = colour_of(chart, i),
                       .line = false,
                       .marker = true});
  }
  const auto has_mean = [](const Runs& runs) { return std::isfinite(shown_interval(runs).mean); };
  const auto has_ends = [](const Runs& runs) { return std::isfinite(shown_interval(runs).low); };
  if (!chart.interval_name.empty() && any_runs(chart, has_mean)) {
    const bool whiskers = any_runs(chart, has_ends);
    entries.push_back({.name = whiskers ? chart.interval_name : "mean",
                       .colour = theme::accent,
                       .line = !whiskers,
                       .whiskers = whiskers});
  }
  if (!chart.censored_name.empty() && any_runs(chart, is_censored)) {
    entries.push_back({.name = chart.censored_name,
                       .colour = theme::accent,
                       .line = false,
                       .marker = true,
                       .hollow = true});
  }
  for (const ReferenceLine& line : chart.reference_lines) {
    if (line.label.empty()) continue;
    entries.push_back({.name = line.label, .colour = line.colour, .dashed = true});
  }
  return entries;
}

// Where a lane is on the canvas.
struct Place {
  Rect plot;
  bool rows;
  double middle;  // of the lane: x, in rows y
  Point at(double along, double across) const {
    return rows ? Point{plot.x + along, middle + across}
                : Point{middle + across, plot.bottom() - along};
  }
};

Place place_of(const DotPlot& chart, const Rect& plot, const Lanes& lanes, std::size_t group,
               std::size_t series) {
  const double first = (static_cast<double>(group) + 0.5) * lanes.group -
                       0.5 * lanes.lane * static_cast<double>(chart.series.size());
  const double middle = first + (static_cast<double>(series) + 0.5) * lanes.lane;
  return {plot, chart.rows, middle + (chart.rows ? plot.y : plot.x)};
}

void draw_interval(Canvas& canvas, const Place& place, const Lanes& lanes,
                   const MeanInterval& interval, const Range& range, Colour colour) {
  const double length = place.rows ? place.plot.width : place.plot.height;
  const double middle = lanes.bar_across, half = lanes.half_bar;
  const auto along = [&](double value) {
    // What has no place on a log axis lies below it.
    const double share = range.share(value);
    return length * (std::isnan(share) ? -1 : std::clamp(share, -1.0, 2.0));
  };
  const auto bar = [&](double value, double half_length, double width) {
    canvas.line(place.at(along(value), middle - half_length),
                place.at(along(value), middle + half_length), {colour, width});
  };
  if (!std::isfinite(interval.mean)) return;
  canvas.set_clip(place.plot.inset(-2));
  if (std::isfinite(interval.low) && std::isfinite(interval.high)) {
    canvas.line(place.at(along(interval.low), middle), place.at(along(interval.high), middle),
                {colour, 1.4});
    bar(interval.low, half / 2, 1.4);
    bar(interval.high, half / 2, 1.4);
  }
  bar(interval.mean, half, 2.6);
  canvas.set_clip(std::nullopt);
}

void draw_dot(Canvas& canvas, const Place& place, const Dot& dot, double radius, Colour colour) {
  const Point centre = place.at(dot.along, dot.across);
  canvas.fill_circle(centre, radius + 1, theme::paper);
  if (!dot.censored) return canvas.fill_circle(centre, radius, colour);
  canvas.stroke_circle(centre, radius - 0.7, {colour, 1.4});
  canvas.arrow(place.at(dot.along + radius, dot.across),
               place.at(dot.along + radius + arrow_length, dot.across), {colour, 1.4},
               1.95 * radius);
}

// In one line beside a row, below each other under a column.
void draw_notes(Canvas& canvas, const Place& place, double lane, const Notes& notes) {
  TextStyle style = note_style;
  style.vertical = VerticalAlign::middle;
  if (place.rows) {
    style.size = std::min(style.size, lane / 1.1);
    canvas.text({place.plot.right() + arrow_length + 8, place.middle}, in_one_line(notes), style,
                Role::note);
    return;
  }
  style.align = Align::centre;
  style.size *= std::min(1.0, 0.95 * lane / widest(notes, style));
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const double below = note_line * (static_cast<double>(i) + 0.5);
    canvas.text({place.middle, place.plot.bottom() + 2 + below}, notes[i], style, Role::note);
  }
}

void draw_lanes(Canvas& canvas, const DotPlot& chart, const Rect& plot, const Range& range) {
  const Lanes lanes = lanes_for(chart, range, chart.rows ? plot.width : plot.height,
                                chart.rows ? plot.height : plot.width);
  for (std::size_t i = 0; i < lanes.all.size(); ++i) {
    const std::size_t series = i % chart.series.size();
    const Place place = place_of(chart, plot, lanes, i / chart.series.size(), series);
    const Colour colour = colour_of(chart, series);
    draw_interval(canvas, place, lanes, lanes.all[i].interval, range, colour);
    for (const Dot& dot : lanes.all[i].dots) draw_dot(canvas, place, dot, lanes.radius, colour);
    draw_notes(canvas, place, lanes.lane, lanes.all[i].notes);
  }
}

// How much room the notes take below columns or beside rows.
double notes_room(const DotPlot& chart, const Range& range) {
  double room = 0;
  for (const RunSeries& series : chart.series) {
    for (const Runs& runs : series.groups) {
      const Notes notes = notes_on(runs, range);
      const double height = note_line * static_cast<double>(notes.size());
      room = std::max(room, chart.rows ? widest({in_one_line(notes)}, note_style) : height);
    }
  }
  return room;
}

void check_room(const Rect& plot) {
  if (plot.width >= 20 && plot.height >= 20) return;
  throw Error("dot plot: the area is too small for title, legend and labels; give it more room");
}

void draw_columns(Canvas& canvas, const Rect& room, const DotPlot& chart, const Range& range) {
  const Ticks ticks = ticks_for(range, room.height - x_axis_room(chart.label_axis), 34);
  const double left = y_axis_room(ticks, chart.value_axis.name), width = room.width - left - 12;
  const double top = 7 + (any_runs(chart, is_censored) ? arrow_length : 0);
  const double notes = notes_room(chart, range);
  const double groups = static_cast<double>(chart.labels.size());
  GroupLabels labels = group_labels(chart.labels, width / groups);
  const double below = notes + labels.height + (chart.label_axis.empty() ? 0 : 22);
  const Axes axes{
      canvas.snap(Rect{room.x + left, room.y + top, width, room.height - below - top}), {}, range};
  const Rect& plot = axes.plot;
  check_room(plot);
  draw_y_axis(canvas, axes, ticks, chart.value_axis.name);
  canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, {theme::frame, 1});
  draw_reference_lines(canvas, axes, chart.reference_lines);
  draw_lanes(canvas, chart, plot, range);
  labels.pitch = plot.width / groups;  // the plot ends between two pixels
  draw_group_labels(canvas, {plot.x, plot.bottom() + notes}, labels);
  const TextStyle style{type::label, theme::faded, false, Align::centre, VerticalAlign::middle};
  canvas.text({plot.centre().x, plot.bottom() + below - 8}, chart.label_axis, style, Role::x_axis);
}

// The labels are the ticks of a y axis on which the first group is the highest.
Ticks row_ticks(const DotPlot& chart) {
  Ticks ticks;
  for (std::size_t i = chart.labels.size(); i-- > 0;) {
    ticks.at.push_back(static_cast<double>(chart.labels.size() - i) - 0.5);
    ticks.texts.push_back(fit_text(visible(chart.labels[i]), longest_label, {type::tick}));
  }
  return ticks;
}

void draw_rows(Canvas& canvas, const Rect& room, const DotPlot& chart, const Range& range) {
  const Ticks labels = row_ticks(chart);
  const double left = y_axis_room(labels, chart.label_axis), top = 7;
  const double notes = notes_room(chart, range);
  const double right =
      16 + (notes == 0 && !any_runs(chart, is_censored) ? 0 : arrow_length) + notes;
  const double below = x_axis_room(chart.value_axis.name);
  const Axes axes{canvas.snap(Rect{room.x + left, room.y + top, room.width - left - right,
                                   room.height - below - top}),
                  range,
                  {0, static_cast<double>(chart.labels.size()), false}};
  check_room(axes.plot);
  draw_y_axis(canvas, axes, labels, chart.label_axis);
  draw_x_axis(canvas, axes, ticks_for(range, axes.plot.width, 62), chart.value_axis.name);
  draw_reference_lines(canvas, axes, chart.reference_lines, true);
  draw_lanes(canvas, chart, axes.plot, range);
}

}  // namespace

void draw(Canvas& canvas, Rect area, const DotPlot& chart) {
  check(chart);
  const Range range = value_range(chart);
  Rect room = draw_title(canvas, area, chart.title, chart.subtitle);
  room = draw_legend(canvas, room, legend_of(chart));
  if (chart.rows) return draw_rows(canvas, room, chart, range);
  draw_columns(canvas, room, chart, range);
}

Canvas render(const DotPlot& chart, double width, std::optional<double> height, double scale) {
  constexpr double legend = 28, lane = 54;
  const double rows = title_height(chart.title, chart.subtitle, width - 2 * margin) + legend +
                      x_axis_room(chart.value_axis.name) +
                      lane * static_cast<double>(chart.labels.size() * chart.series.size());
  Canvas canvas(width, height.value_or(chart.rows ? 2 * margin + rows : 420), scale);
  draw(canvas, canvas.area().inset(margin), chart);
  return canvas;
}

}  // namespace tapestry::plot
