// Points and rectangles in logical units: x to the right, y down, the origin at the top left.
#pragma once

#include <vector>

namespace tapestry::plot {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

[[nodiscard]] inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
[[nodiscard]] inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
[[nodiscard]] inline Point operator*(double factor, Point p) {
  return {factor * p.x, factor * p.y};
}

// Linear interpolation: the point a + t (b - a).
[[nodiscard]] inline Point between(Point a, Point b, double t) { return a + t * (b - a); }

struct Size {
  double width = 0, height = 0;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;

  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] Point centre() const { return {x + width / 2, y + height / 2}; }
  // The rectangle with every side moved inwards (outwards for a negative margin).
  [[nodiscard]] Rect inset(double margin) const {
    return {x + margin, y + margin, width - 2 * margin, height - 2 * margin};
  }
  [[nodiscard]] bool contains(Point p) const {
    return p.x >= x && p.x <= right() && p.y >= y && p.y <= bottom();
  }
  [[nodiscard]] bool overlaps(const Rect& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
  bool operator==(const Rect&) const = default;
};

// Splits `area` into rows × columns equal panels, `gap` apart, listed row by row.
// Throws Error when rows or columns is not positive or the gaps leave no room.
[[nodiscard]] std::vector<Rect> panels(Rect area, int rows, int columns, double gap = 24);

}  // namespace tapestry::plot
