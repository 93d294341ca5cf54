// The elements of a picture: shapes, blocks of cells and words, each with its place and colour.
//
// A canvas keeps what is drawn on it as a list of these, in the order of drawing; pixels and SVG
// are both made from that list, and tests read words and places from it. All lengths are logical
// units.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
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

// The role of words in a picture.
enum class Role {
  other,
  title,
  subtitle,
  row_axis,  // the names of axes: of a matrix ...
  column_axis,
  x_axis,  // ... and of a chart
  y_axis,
  row_label,     // a query
  column_label,  // a key
  x_tick,
  y_tick,
  scale,  // the name of a colour bar
  scale_tick,
  legend,
  value,  // a number printed on its cell or bar
  note,   // beside a point, on an arrow, in a box
};

struct FilledRect {
  Rect rect = {};
  Colour colour = {};
  double corner_radius = 0;
};

struct FilledCircle {
  Point centre = {};
  double radius = 0;
  Colour colour = {};
};

struct FilledPolygon {
  std::vector<Point> points = {};
  Colour colour = {};
};

// A gap is left wherever a point is not finite.
struct Polyline {
  std::vector<Point> points = {};
  Stroke stroke = {};
};

// A matrix of colours that fills `area`, row by row; edges are between two pixels.
struct Cells {
  Rect area = {};
  std::int64_t rows = 0, columns = 0;
  std::vector<Colour> colours = {};
  // Where that cell is.
  [[nodiscard]] Rect cell(std::int64_t row, std::int64_t column) const {
    const double width = area.width / static_cast<double>(columns);
    const double height = area.height / static_cast<double>(rows);
    return {area.x + static_cast<double>(column) * width,
            area.y + static_cast<double>(row) * height, width, height};
  }
};

// One line of UTF-8 text.
struct Text {
  Point at = {};
  std::string words = {};
  TextStyle style = {};
  Role role = Role::other;
};

using AnyElement = std::variant<FilledRect, FilledCircle, FilledPolygon, Polyline, Cells, Text>;

struct Element {
  AnyElement what;
  std::optional<Rect> clip = {};  // what is outside is invisible
};

// Width from pen start to pen end, and the height from the ascent to the descent of the typeface,
// of one line of UTF-8 text at the style's size and weight, before rotation.
[[nodiscard]] Size measure_text(std::string_view text, const TextStyle& style);

// The text, shortened with "…" until it is at most `width` wide.
[[nodiscard]] std::string fit_text(std::string_view text, double width, const TextStyle& style);

// The corners of the box around the words, after alignment and rotation: from pen start to pen end,
// and from the top of the capital letters to the descent. In order around the box.
[[nodiscard]] std::array<Point, 4> corners(const Text& text);

}  // namespace tapestry::plot
