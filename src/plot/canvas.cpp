#include "tapestry/plot/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "plot/raster.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {

namespace {

template <typename Visit>
void for_each_pixel(const Mask& mask, Visit visit) {
  const float* coverage = mask.coverage.data();
  for (int row = mask.box.top; row < mask.box.bottom; ++row) {
    for (int column = mask.box.left; column < mask.box.right; ++column) {
      visit(column, row, *coverage++);
    }
  }
}

// A circle of n corners strays r (1 - cos(π/n)) from the true one; 1/100 pixel is not seen.
int corners_of_circle(double pixel_radius) {
  const double corners = std::ceil(std::numbers::pi * std::sqrt(50 * pixel_radius));
  return static_cast<int>(std::clamp(corners, 12.0, 720.0));
}

void add_arc(Contour& contour, Point centre, double radius, double from, double to, int pieces) {
  for (int i = 0; i <= pieces; ++i) {
    const double angle = from + (to - from) * i / pieces;
    contour.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
}

Contour circle(Point centre, double radius, double scale) {
  Contour contour;
  add_arc(contour, centre, radius, 0, 2 * std::numbers::pi, corners_of_circle(radius * scale));
  return contour;
}

Contour rounded(const Rect& rect, double corner_radius, double scale) {
  // Not std::clamp: a negative width or height would cross its bounds.
  const double r = std::min({corner_radius, rect.width / 2, rect.height / 2});
  if (!(r > 0)) {
    return {{rect.x, rect.y},
            {rect.right(), rect.y},
            {rect.right(), rect.bottom()},
            {rect.x, rect.bottom()}};
  }
  const int pieces = corners_of_circle(r * scale) / 4 + 1;
  const double quarter = std::numbers::pi / 2;
  Contour contour;
  add_arc(contour, {rect.x + r, rect.y + r}, r, 2 * quarter, 3 * quarter, pieces);
  add_arc(contour, {rect.right() - r, rect.y + r}, r, 3 * quarter, 4 * quarter, pieces);
  add_arc(contour, {rect.right() - r, rect.bottom() - r}, r, 0, quarter, pieces);
  add_arc(contour, {rect.x + r, rect.bottom() - r}, r, quarter, 2 * quarter, pieces);
  return contour;
}

// The dashes of a line, cut at its corners: a stroke unites what meets. Round caps lengthen each by
// `width`, so that much is left out of them.
std::vector<Contour> dashes(const Contour& line, double dash, double width) {
  const double ink = std::max(dash - width, dash * 0.1), period = 2 * dash;
  std::vector<Contour> pieces;
  double walked = 0;  // distance since the start of the current period
  for (std::size_t i = 1; i < line.size(); ++i) {
    const double length = std::hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y);
    if (!std::isfinite(length) || length / dash > 1e5) continue;
    for (double at = 0; at < length;) {
      const bool inked = walked < ink;
      const double step = std::min(length - at, (inked ? ink : period) - walked);
      const Point from = between(line[i - 1], line[i], at / length);
      at += step;
      if (inked)
        pieces.push_back({from, between(line[i - 1], line[i], std::min(1.0, at / length))});
      walked = walked + step >= period - 1e-9 ? 0 : walked + step + 1e-9;
    }
  }
  return pieces;
}

}  // namespace

Canvas::Canvas(double width, double height, double scale, Colour background)
    : width_(width), height_(height), scale_(scale) {
  const double columns = std::ceil(width * scale - 1e-9), rows = std::ceil(height * scale - 1e-9);
  if (!(scale > 0 && columns >= 1 && rows >= 1 && columns <= 32768 && rows <= 32768)) {
    std::ostringstream message;
    message << "canvas: " << width << " x " << height << " at scale " << scale
            << " must give 1 to 32768 pixels on each side";
    throw Error(message.str());
  }
  pixel_width_ = static_cast<int>(columns);
  pixel_height_ = static_cast<int>(rows);
  pixels_.assign(static_cast<std::size_t>(pixel_width_) * pixel_height_, background);
  set_clip(std::nullopt);
}

Colour Canvas::pixel(int column, int row) const {
  if (column < 0 || row < 0 || column >= pixel_width_ || row >= pixel_height_) {
    throw Error("canvas: pixel (" + std::to_string(column) + ", " + std::to_string(row) +
                ") lies outside a picture of " + std::to_string(pixel_width_) + " x " +
                std::to_string(pixel_height_));
  }
  return pixels_[static_cast<std::size_t>(row) * pixel_width_ + column];
}

void Canvas::set_clip(std::optional<Rect> area) {
  const Rect rect = area.value_or(Rect{0, 0, width_ + 1, height_ + 1});
  const auto pixel = [this](double value, int most) {
    if (std::isnan(value)) return 0;
    return static_cast<int>(std::clamp(std::round(value * scale_), 0.0, static_cast<double>(most)));
  };
  clip_left_ = pixel(rect.x, pixel_width_);
  clip_top_ = pixel(rect.y, pixel_height_);
  // Never before the others, or clamps between them would have crossed bounds.
  clip_right_ = std::max(clip_left_, pixel(rect.right(), pixel_width_));
  clip_bottom_ = std::max(clip_top_, pixel(rect.bottom(), pixel_height_));
}

double Canvas::snap(double value) const { return std::round(value * scale_) / scale_; }

Rect Canvas::snap(const Rect& rect) const {
  const double x = snap(rect.x), y = snap(rect.y);
  return {x, y, snap(rect.right()) - x, snap(rect.bottom()) - y};
}

// Porter and Duff (1984): colour over what is there, with straight opacity.
void Canvas::blend(int column, int row, Colour colour, double coverage) {
  if (coverage < 1.0 / 1024) return;
  Colour& below = pixels_[static_cast<std::size_t>(row) * pixel_width_ + column];
  const double above = coverage * colour.a / 255.0, rest = below.a / 255.0 * (1 - above);
  const double opacity = above + rest;
  if (!(opacity > 0)) return;
  const auto over = [&](std::uint8_t top, std::uint8_t bottom) {
    return static_cast<std::uint8_t>(std::lround((above * top + rest * bottom) / opacity));
  };
  below = {over(colour.r, below.r), over(colour.g, below.g), over(colour.b, below.b),
           static_cast<std::uint8_t>(std::lround(255 * opacity))};
}

void Canvas::fill_rect(const Rect& rect, Colour colour, double corner_radius) {
  const double left = scale_ * rect.x, right = scale_ * rect.right();
  const double top = scale_ * rect.y, bottom = scale_ * rect.bottom();
  if (!(left < right && top < bottom)) return;  // also when one is NaN
  if (corner_radius > 0) return fill_polygon(rounded(rect, corner_radius, scale_), colour);
  const auto pixel = [](double value, int low, int high) {
    return static_cast<int>(std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
  };
  const int row_end = pixel(std::ceil(bottom), clip_top_, clip_bottom_);
  const int column_end = pixel(std::ceil(right), clip_left_, clip_right_);
  for (int row = pixel(std::floor(top), clip_top_, clip_bottom_); row < row_end; ++row) {
    const double height = std::min(bottom, row + 1.0) - std::max(top, row + 0.0);
    for (int column = pixel(std::floor(left), clip_left_, clip_right_); column < column_end;
         ++column) {
      const double width = std::min(right, column + 1.0) - std::max(left, column + 0.0);
      blend(column, row, colour, width * height);
    }
  }
}

void Canvas::stroke_rect(const Rect& rect, const Stroke& stroke, double corner_radius) {
  Contour contour = rounded(rect, corner_radius, scale_);
  contour.push_back(contour.front());
  polyline(contour, stroke);
}

void Canvas::fill_contours(std::vector<std::vector<Point>> contours, Colour colour) {
  for (Contour& contour : contours) {
    for (Point& p : contour) p = scale_ * p;
  }
  const PixelBox clip{clip_left_, clip_top_, clip_right_, clip_bottom_};
  const Mask mask = fill_mask(contours, clip);
  for_each_pixel(
      mask, [&](int column, int row, float coverage) { blend(column, row, colour, coverage); });
}

void Canvas::fill_polygon(std::span<const Point> points, Colour colour) {
  fill_contours({{points.begin(), points.end()}}, colour);
}

void Canvas::fill_circle(Point centre, double radius, Colour colour) {
  if (radius > 0) fill_polygon(circle(centre, radius, scale_), colour);
}

void Canvas::stroke_circle(Point centre, double radius, const Stroke& stroke) {
  if (radius > 0) polyline(circle(centre, radius, scale_), stroke);
}

void Canvas::line(Point from, Point to, const Stroke& stroke) {
  const Point points[] = {from, to};
  polyline(points, stroke);
}

void Canvas::polyline(std::span<const Point> points, const Stroke& stroke) {
  Contour line(points.begin(), points.end());
  for (Point& p : line) p = scale_ * p;
  const double width = stroke.width * scale_, dash = stroke.dash * scale_;
  const std::vector<Contour> pieces =
      dash > 0 ? dashes(line, dash, width) : std::vector<Contour>{line};
  const PixelBox clip{clip_left_, clip_top_, clip_right_, clip_bottom_};
  const Mask mask = stroke_mask(pieces, width / 2, clip);
  for_each_pixel(mask, [&](int column, int row, float coverage) {
    blend(column, row, stroke.colour, coverage);
  });
}

void Canvas::curve(Point from, Point control_from, Point control_to, Point to,
                   const Stroke& stroke) {
  polyline(curve_points(from, control_from, control_to, to), stroke);
}

// Without a length there is no direction: points that are not finite leave no ink.
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
