#include "plot/axes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plot/frame.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

// The next power of ten, or 2 or 5 times one, in the direction of `up`.
double round_outwards(double value, bool up) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const std::vector<double> steps{1, 2, 5, 10};
  if (up) {
    for (const double step : steps) {
      if (step * power >= value * (1 - 1e-9)) return step * power;
    }
  }
  double best = power;
  for (const double step : steps) {
    if (step * power <= value * (1 + 1e-9)) best = step * power;
  }
  return best;
}

Range round_range(double low, double high, bool log) {
  if (log) {
    if (low == high) return {low / 10, high * 10, true};
    return {round_outwards(low, false), round_outwards(high, true), true};
  }
  if (low == high) {
    const double widen = low == 0 ? 1 : 0.5 * std::abs(low);
    return {low - widen, high + widen, false};
  }
  if (low < 0.4 * high) low = std::min(low, 0.0);
  if (high > 0.4 * low) high = std::max(high, 0.0);
  const std::vector<double> ticks = linear_ticks(low, high);
  if (ticks.empty()) return {low, high, false};
  const double step = ticks[1] - ticks[0], slack = 1e-9 * (high - low);
  const double first = ticks.front(), last = ticks.back();
  return {first > low + slack ? first - step : first, last < high - slack ? last + step : last,
          false};
}

void draw_minor_grid(Canvas& canvas, const Axes& axes, const Range& range, bool vertical) {
  if (!range.log || std::log10(range.high / range.low) > 7) return;
  const Stroke stroke{mix(theme::grid, theme::paper, 0.45), 0.7};
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  for (int k = first; std::pow(10.0, k) < range.high; ++k) {
    for (int factor = 2; factor < 10; ++factor) {
      const double share = range.share(factor * std::pow(10.0, k));
      if (!(share > 0 && share < 1)) continue;
      const double x = axes.plot.x + share * axes.plot.width;
      const double y = axes.plot.bottom() - share * axes.plot.height;
      if (vertical) canvas.line({x, axes.plot.y}, {x, axes.plot.bottom()}, stroke);
      if (!vertical) canvas.line({axes.plot.x, y}, {axes.plot.right(), y}, stroke);
    }
  }
}

// Obstacles for texts.
struct Ink {
  std::vector<Rect> boxes;    // texts and dots
  std::vector<Point> points;  // along lines
};

// A thin line joins a text to its point p if they are apart: points along that line, outside the
// dot at p. None for a text nearby.
std::vector<Point> leader(Point p, const Rect& box) {
  const Point end{std::clamp(p.x, box.x, box.right()), std::clamp(p.y, box.y, box.bottom())};
  const double length = std::hypot(end.x - p.x, end.y - p.y);
  std::vector<Point> points;
  for (double at = 9; length > 20 && at < length - 1; at += 4) {
    points.push_back(between(p, end, at / length));
  }
  return points;
}

// The cost of a text for p in `box`: overlap with other texts, dots and data, and what the rim cuts
// off. Its line should not cross other texts either.
double hidden_by(const Rect& box, Point p, const Rect& plot, const Ink& ink) {
  double cost = 0;
  const std::vector<Point> line = leader(p, box);
  for (const Rect& other : ink.boxes) {
    cost += box.overlaps(other) ? 400 : 0;
    for (const Point on_line : line) cost += other.contains(on_line) ? 10 : 0;
  }
  for (const Point point : ink.points) cost += box.inset(-1).contains(point) ? 4 : 0;
  const bool inside = plot.contains({box.x, box.y}) && plot.contains({box.right(), box.bottom()});
  return cost + (inside ? 0 : 1000);
}

// Of eight places around p, at several distances, the one of least cost; near ones first.
Rect best_place(const Rect& plot, Point p, Size size, const Ink& ink) {
  const double w = size.width, h = size.height;
  Rect best{};
  double least = std::numeric_limits<double>::infinity();
  for (const double d : {7.0, 16.0, 28.0, 44.0, 64.0, 88.0, 116.0}) {
    const Point corners[] = {{d, -h / 2},          {-d - w, -h / 2},   {-w / 2, -d - h},
                             {-w / 2, d},          {d, -d - h / 2},    {d, d - h / 2},
                             {-d - w, -d - h / 2}, {-d - w, d - h / 2}};
    for (const Point corner : corners) {
      const Rect box{p.x + corner.x, p.y + corner.y, w, h};
      const double cost = 0.2 * d + hidden_by(box, p, plot, ink);
      if (cost >= least) continue;
      least = cost;
      best = box;
    }
  }
  return best;
}

}  // namespace

bool has_place(double value, bool log) { return std::isfinite(value) && (!log || value > 0); }

double Range::share(double value) const {
  if (!has_place(value, log)) return nowhere;
  if (log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

Range settle(const Axis& axis, const std::vector<double>& values, const std::string& chart,
             bool tight) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!has_place(value, axis.log)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const std::string name = axis.name.empty() ? "an axis" : "axis \"" + axis.name + "\"";
  if (low > high && !(axis.low && axis.high)) {
    throw Error(chart + ": " + name + " has no " + (axis.log ? "positive finite" : "finite") +
                " value to show; give data or set both ends of the range");
  }
  const bool keep = tight && low < high;
  Range range = keep ? Range{low, high, axis.log} : round_range(low, high, axis.log);
  range.low = axis.low.value_or(range.low);
  range.high = axis.high.value_or(range.high);
  if (!(range.low < range.high) || !has_place(range.low, axis.log) ||
      !has_place(range.high, false)) {
    throw Error(chart + ": " + name + " needs a range with low < high" +
                (axis.log ? ", both positive" : "") +
                "; leave the ends empty for an automatic one");
  }
  return range;
}

Point Axes::at(double data_x, double data_y) const {
  return {plot.x + x.share(data_x) * plot.width, plot.bottom() - y.share(data_y) * plot.height};
}

Ticks ticks_for(const Range& range, double room, double pitch) {
  const int count = std::max(2, static_cast<int>(room / pitch));
  std::vector<double> at = range.log ? log_ticks(range.low, range.high, count)
                                     : linear_ticks(range.low, range.high, std::min(count, 6));
  // One tick alone does not show a scale.
  if (at.size() < 2) at = linear_ticks(range.low, range.high, 2 * count);
  return {at, tick_texts(at, range.log)};
}

double y_axis_room(const Ticks& ticks, const std::string& name) {
  return widest(ticks.texts, {type::tick}) + 9 + (name.empty() ? 0 : 26);
}

double x_axis_room(const std::string& name) { return name.empty() ? 24 : 46; }

void draw_y_axis(Canvas& canvas, const Axes& axes, const Ticks& ticks, const std::string& name) {
  TextStyle style{type::tick, theme::faded, false, Align::right, VerticalAlign::middle};
  draw_minor_grid(canvas, axes, axes.y, false);
  double free = std::numeric_limits<double>::infinity();  // above the last text
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    const double y = axes.plot.bottom() - axes.y.share(ticks.at[i]) * axes.plot.height;
    canvas.line({axes.plot.x, y}, {axes.plot.right(), y}, {theme::grid, 1});
    if (y > free) continue;  // it would touch
    canvas.text({axes.plot.x - 8, y}, ticks.texts[i], style, Role::y_tick);
    free = y - 1.1 * style.size;
  }
  style = {type::label, theme::faded, false, Align::centre, VerticalAlign::middle, 90};
  canvas.text({axes.plot.x - y_axis_room(ticks, name) + 8, axes.plot.centre().y},
              fit_text(name, axes.plot.height + 40, style), style, Role::y_axis);
}

void draw_x_axis(Canvas& canvas, const Axes& axes, const Ticks& ticks, const std::string& name) {
  TextStyle style{type::tick, theme::faded, false, Align::centre, VerticalAlign::top};
  draw_minor_grid(canvas, axes, axes.x, true);
  double free = -std::numeric_limits<double>::infinity();  // to the right of the last text
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    const double x = axes.plot.x + axes.x.share(ticks.at[i]) * axes.plot.width;
    canvas.line({x, axes.plot.y}, {x, axes.plot.bottom()}, {theme::grid, 1});
    const double half = measure_text(ticks.texts[i], style).width / 2;
    if (x - half < free) continue;  // it would touch
    canvas.text({x, axes.plot.bottom() + 6}, ticks.texts[i], style, Role::x_tick);
    free = x + half + 6;
  }
  const double y = axes.plot.bottom();
  canvas.line({axes.plot.x, y}, {axes.plot.right(), y}, {theme::frame, 1});
  style = {type::label, theme::faded, false, Align::centre, VerticalAlign::middle};
  canvas.text({axes.plot.centre().x, y + x_axis_room(name) - 8},
              fit_text(name, axes.plot.width + 40, style), style, Role::x_axis);
}

void draw_reference_lines(Canvas& canvas, const Axes& axes, const std::vector<ReferenceLine>& lines,
                          bool upright) {
  const Rect& plot = axes.plot;
  for (const ReferenceLine& line : lines) {
    const double share = (upright ? axes.x : axes.y).share(line.y);
    if (!(share >= 0 && share <= 1)) continue;
    const double x = plot.x + share * plot.width, y = plot.bottom() - share * plot.height;
    canvas.line(upright ? Point{x, plot.bottom()} : Point{plot.x, y},
                upright ? Point{x, plot.y} : Point{plot.right(), y}, {line.colour, 1.5, 6});
  }
}

void draw_annotations(Canvas& canvas, const Axes& axes, const std::vector<Annotation>& annotations,
                      const std::vector<Point>& obstacles) {
  const TextStyle style{type::small, theme::ink, false, Align::left, VerticalAlign::middle};
  const auto visible = [&](Point p) { return axes.plot.inset(-0.5).contains(p); };
  Ink ink{{}, obstacles};
  for (const Annotation& note : annotations) {
    const Point p = axes.at(note.x, note.y);
    if (visible(p)) ink.boxes.push_back({p.x - 4, p.y - 4, 8, 8});
  }
  for (const Annotation& note : annotations) {
    const Point p = axes.at(note.x, note.y);
    if (!visible(p)) continue;
    const Size size{measure_text(note.text, style).width + 4, style.size + 4};
    const Rect box = best_place(axes.plot, p, size, ink);
    const std::vector<Point> line = leader(p, box);
    if (!line.empty()) canvas.line(p, line.back(), {theme::frame, 0.7});
    if (note.marker) canvas.fill_circle(p, 4, theme::ink);
    canvas.text({box.x + 2, box.centre().y}, note.text, style, Role::note);
    ink.boxes.push_back(box);
    ink.points.insert(ink.points.end(), line.begin(), line.end());
  }
}

}  // namespace tapestry::plot
