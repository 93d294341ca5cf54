#include "plot/outlines.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tapestry::plot {
namespace {

// A polygon of n corners deviates r (1 - cos(π/n)) from the circle; 1/100 pixel is invisible.
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

}  // namespace

Contour circle(Point centre, double radius, double scale) {
  Contour contour;
  add_arc(contour, centre, radius, 0, 2 * std::numbers::pi, corners_of_circle(radius * scale));
  return contour;
}

Contour rounded(const Rect& rect, double corner_radius, double scale) {
  // Not std::clamp: a negative width or height would swap its bounds.
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

double inked_part(double dash, double width) { return std::max(dash - width, dash * 0.1); }

std::vector<Contour> dashes(const Contour& line, double dash, double width) {
  const double ink = inked_part(dash, width), gap = 2 * dash - ink;
  std::vector<Contour> pieces;
  bool inked = true;
  double left = ink;  // of this dash or gap
  for (std::size_t i = 1; i < line.size(); ++i) {
    const Point start = line[i - 1], end = line[i];
    const double length = std::hypot(end.x - start.x, end.y - start.y);
    if (!std::isfinite(length) || length / dash > 1e5) continue;
    for (double at = 0; at < length;) {
      const double step = std::min(length - at, left);
      const Point from = between(start, end, at / length);
      at += step;
      left -= step;
      if (inked) pieces.push_back({from, between(start, end, at / length)});
      if (left > 0) continue;
      inked = !inked;
      left = inked ? ink : gap;
    }
  }
  return pieces;
}

}  // namespace tapestry::plot
