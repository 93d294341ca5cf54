// A picture to draw on: anti-aliased shapes and text, in logical units.
//
// What is drawn is kept as a list of elements, from which the pixels and SVG (svg.hpp) are made.
// A canvas of 600 × 400 units with scale 2 has 1200 × 800 pixels; drawing code is independent of
// it. Whatever lies outside the canvas (or the clip rectangle) is cut off; shapes with non-finite
// coordinates draw nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tapestry/plot/element.hpp"

namespace tapestry::plot {

class Canvas {
 public:
  // Throws Error unless the canvas has between 1 and 32768 pixels on each side.
  Canvas(double width, double height, double scale = 2, Colour background = theme::paper);

  double width() const { return width_; }
  double height() const { return height_; }
  double scale() const { return scale_; }
  Rect area() const { return {0, 0, width_, height_}; }
  Colour background() const { return background_; }

  // What was drawn, first to last, without what has no size or no finite place.
  std::span<const Element> elements() const { return elements_; }

  int pixel_width() const { return pixel_width_; }
  int pixel_height() const { return pixel_height_; }
  // Row by row from the top. `pixel` throws Error outside the picture.
  std::span<const Colour> pixels() const { return pixels_; }
  [[nodiscard]] Colour pixel(int column, int row) const;

  // Drawing is limited to `area` until the next call; without a value, to the whole canvas.
  void set_clip(std::optional<Rect> area);

  // The nearest boundary between two device pixels: shapes that end there have sharp edges.
  [[nodiscard]] double snap(double value) const;
  [[nodiscard]] Rect snap(const Rect& rect) const;

  // A matrix of colours that fills `area`, row by row. Throws Error unless there is a colour for
  // each cell.
  void cells(const Rect& area, std::int64_t rows, std::int64_t columns,
             std::vector<Colour> colours);
  void fill_rect(const Rect& rect, Colour colour, double corner_radius = 0);
  void stroke_rect(const Rect& rect, const Stroke& stroke, double corner_radius = 0);
  void fill_polygon(std::span<const Point> points, Colour colour);
  void fill_circle(Point centre, double radius, Colour colour);
  void stroke_circle(Point centre, double radius, const Stroke& stroke);
  void line(Point from, Point to, const Stroke& stroke);
  // A gap is left wherever a point is not finite.
  void polyline(std::span<const Point> points, const Stroke& stroke);
  // A cubic Bézier curve.
  void curve(Point from, Point control_from, Point control_to, Point to, const Stroke& stroke);
  // A straight arrow; the tip of its head is exactly at `to`.
  void arrow(Point from, Point to, const Stroke& stroke, double head = 9);
  // Only the head, pointing from `from` to its tip.
  void arrow_head(Point from, Point tip, Colour colour, double head = 9);

  // One line of UTF-8 text; signs that the typeface lacks appear as a box.
  void text(Point at, std::string_view words, const TextStyle& style = {}, Role role = Role::other);

 private:
  void add(Element element);  // keeps it, and draws it on the pixels

  double width_, height_, scale_;
  Colour background_;
  int pixel_width_ = 0, pixel_height_ = 0;
  std::optional<Rect> clip_;
  std::vector<Element> elements_;
  std::vector<Colour> pixels_;
};

// The points of a cubic Bézier curve, `pieces` + 1 of them.
[[nodiscard]] std::vector<Point> curve_points(Point from, Point control_from, Point control_to,
                                              Point to, int pieces = 48);

}  // namespace tapestry::plot
