#include "tapestry/plot/canvas.hpp"

#include <algorithm>
#include <cmath>

#include "plot/outlines.hpp"
#include "plot/paint.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

namespace tapestry::plot {

namespace {

bool is_finite(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }
bool is_finite(const Rect& r) {
  return is_finite(Point{r.x, r.y}) && is_finite(Point{r.width, r.height});
}

bool has_room(const Rect& area) {
  return is_finite(Point{area.x, area.y}) && area.width > 0 && area.height > 0;
}

}  // namespace

Canvas::Canvas(double width, double height, double scale, Colour background)
    : width_(width), height_(height), scale_(scale), background_(background) {
  const double columns = std::ceil(width * scale - 1e-9), rows = std::ceil(height * scale - 1e-9);
  if (!(scale > 0 && columns >= 1 && rows >= 1 && columns <= 32768 && rows <= 32768)) {
    throw Error(formatted("canvas: %g x %g at scale %g must give 1 to 32768 pixels on each side",
                          width, height, scale));
  }
  pixel_width_ = static_cast<int>(columns);
  pixel_height_ = static_cast<int>(rows);
  pixels_.assign(static_cast<std::size_t>(pixel_width_) * pixel_height_, background);
}

Colour Canvas::pixel(int column, int row) const {
  if (column < 0 || row < 0 || column >= pixel_width_ || row >= pixel_height_) {
    throw Error("canvas: pixel (" + std::to_string(column) + ", " + std::to_string(row) +
                ") lies outside a picture of " + std::to_string(pixel_width_) + " x " +
                std::to_string(pixel_height_));
  }
  return pixels_[static_cast<std::size_t>(row) * pixel_width_ + column];
}

void Canvas::set_clip(std::optional<Rect> area) { clip_ = area; }

void Canvas::add(Element element) {
  if (clip_ && !has_room(*clip_)) return;
  element.clip = clip_;
  paint({pixels_, pixel_width_, pixel_height_, scale_}, element);
  elements_.push_back(std::move(element));
}

double Canvas::snap(double value) const { return std::round(value * scale_) / scale_; }

Rect Canvas::snap(const Rect& rect) const {
  const double x = snap(rect.x), y = snap(rect.y);
  return {x, y, snap(rect.right()) - x, snap(rect.bottom()) - y};
}

void Canvas::cells(const Rect& area, std::int64_t rows, std::int64_t columns,
                   std::vector<Colour> colours) {
  if (rows < 0 || columns < 0 || colours.size() != static_cast<std::size_t>(rows * columns)) {
    throw Error("canvas: " + std::to_string(rows) + " x " + std::to_string(columns) +
                " cells need as many colours, but " + std::to_string(colours.size()) +
                " were given");
  }
  if (!has_room(area) || !is_finite(Point{area.width, area.height})) return;
  add({Cells{area, rows, columns, std::move(colours)}});
}

void Canvas::fill_rect(const Rect& rect, Colour colour, double corner_radius) {
  if (!(is_finite(rect) && rect.width > 0 && rect.height > 0)) return;
  add({FilledRect{rect, colour, corner_radius}});
}

void Canvas::stroke_rect(const Rect& rect, const Stroke& stroke, double corner_radius) {
  if (!is_finite(rect)) return;
  Contour contour = rounded(rect, corner_radius, scale_);
  contour.push_back(contour.front());
  polyline(contour, stroke);
}

void Canvas::fill_polygon(std::span<const Point> points, Colour colour) {
  if (!std::all_of(points.begin(), points.end(), [](Point p) { return is_finite(p); })) return;
  add({FilledPolygon{{points.begin(), points.end()}, colour}});
}

void Canvas::fill_circle(Point centre, double radius, Colour colour) {
  if (!(radius > 0 && std::isfinite(radius) && is_finite(centre))) return;
  add({FilledCircle{centre, radius, colour}});
}

void Canvas::stroke_circle(Point centre, double radius, const Stroke& stroke) {
  if (radius > 0) polyline(circle(centre, radius, scale_), stroke);
}

void Canvas::line(Point from, Point to, const Stroke& stroke) {
  const Point points[] = {from, to};
  polyline(points, stroke);
}

void Canvas::polyline(std::span<const Point> points, const Stroke& stroke) {
  if (!(stroke.width > 0 && std::isfinite(stroke.width))) return;
  add({Polyline{{points.begin(), points.end()}, stroke}});
}

void Canvas::text(Point at, std::string_view words, const TextStyle& style, Role role) {
  const bool finite = is_finite(at) && std::isfinite(style.size) && std::isfinite(style.angle);
  if (!(finite && style.size > 0) || words.empty()) return;
  add({Text{at, std::string(words), style, role}});
}

void Canvas::curve(Point from, Point control_from, Point control_to, Point to,
                   const Stroke& stroke) {
  polyline(curve_points(from, control_from, control_to, to), stroke);
}

// Without a length there is no direction; points that are not finite draw nothing.
void Canvas::arrow(Point from, Point to, const Stroke& stroke, double head) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  // The line ends inside the head, or its round cap would blunt the tip.
  const double shaft = std::max(0.0, length - 0.8 * head);
  line(from, between(from, to, shaft / length), stroke);
  arrow_head(from, to, stroke.colour, head);
}

void Canvas::arrow_head(Point from, Point tip, Colour colour, double head) {
  const double length = std::hypot(tip.x - from.x, tip.y - from.y);
  const Point along = (1 / length) * (tip - from), across{-along.y, along.x};
  const Point back = tip - head * along;
  const Point points[] = {tip, back + 0.42 * head * across, back + 0.18 * head * along,
                          back - 0.42 * head * across};
  fill_polygon(points, colour);
}

std::vector<Point> curve_points(Point from, Point control_from, Point control_to, Point to,
                                int pieces) {
  std::vector<Point> points;
  for (int i = 0; i <= pieces; ++i) {
    const double t = static_cast<double>(i) / pieces;
    const Point a = between(from, control_from, t), b = between(control_from, control_to, t),
                c = between(control_to, to, t);
    points.push_back(between(between(a, b, t), between(b, c, t), t));
  }
  return points;
}

}  // namespace tapestry::plot
