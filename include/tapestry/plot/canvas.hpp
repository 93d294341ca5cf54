// A picture to draw on: anti-aliased shapes and text, in logical units.
//
// A canvas of 600 × 400 units with scale 2 has 1200 × 800 pixels; drawing code never needs to know.
// Whatever lies outside the canvas (or the clip rectangle) is cut off; shapes with non-finite
// coordinates draw nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapestry/plot/colour.hpp"
#include "tapestry/plot/geometry.hpp"

namespace tapestry::plot {

// How a line is drawn: width in logical units, round caps; `dash` = length of the dashes and of
// the gaps between them, 0 for a full line.
struct Stroke {
  Colour colour = theme::ink;
  double width = 1;
  double dash = 0;
};

enum class Align { left, centre, right };
enum class VerticalAlign { top, middle, baseline, bottom };  // middle: of the capital letters

struct TextStyle {
  double size = 13;  // of the em square, logical units
  Colour colour = theme::ink;
  bool bold = false;
  Align align = Align::left;
  VerticalAlign vertical = VerticalAlign::baseline;
  double angle = 0;        // degrees counter-clockwise, around the given point
  bool subscripts = true;  // text after a single letter and "_" becomes a subscript: d_model, W_Q
};

// Width from pen start to pen end, and the height from the ascent to the descent of the typeface,
// of one line of UTF-8 text at the style's size and weight, before rotation.
Size measure_text(std::string_view text, const TextStyle& style);

// The text, shortened with "…" until it is at most `width` wide.
std::string fit_text(std::string_view text, double width, const TextStyle& style);

class Canvas {
 public:
  // Throws Error unless the canvas has between 1 and 32768 pixels on each side.
  Canvas(double width, double height, double scale = 2, Colour background = theme::paper);

  double width() const { return width_; }
  double height() const { return height_; }
  double scale() const { return scale_; }
  Rect area() const { return {0, 0, width_, height_}; }

  int pixel_width() const { return pixel_width_; }
  int pixel_height() const { return pixel_height_; }
  // Row by row from the top. `pixel` throws Error outside the picture.
  std::span<const Colour> pixels() const { return pixels_; }
  Colour pixel(int column, int row) const;

  // Drawing is limited to `area` until the next call; without a value, to the whole canvas.
  void set_clip(std::optional<Rect> area);

  // The nearest boundary between two device pixels: shapes that end there have sharp edges.
  double snap(double value) const;
  Rect snap(const Rect& rect) const;

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
  void text(Point at, std::string_view text, const TextStyle& style = {});

 private:
  // Closed contours in logical units: united where they run the same way, cut out where opposite.
  void fill_contours(std::vector<std::vector<Point>> contours, Colour colour);
  void blend(int column, int row, Colour colour, double coverage);

  double width_, height_, scale_;
  int pixel_width_ = 0, pixel_height_ = 0;
  int clip_left_ = 0, clip_top_ = 0, clip_right_ = 0, clip_bottom_ = 0;  // in pixels
  std::vector<Colour> pixels_;
};

// The points of a cubic Bézier curve, `pieces` + 1 of them.
std::vector<Point> curve_points(Point from, Point control_from, Point control_to, Point to,
                                int pieces = 48);

}  // namespace tapestry::plot
