// One line of text: which signs it has, where each stands, and what it looks like.
#pragma once

#include <string_view>
#include <vector>

#include "plot/raster.hpp"
#include "tapestry/plot/element.hpp"

namespace tapestry::plot {

// How much smaller than the line subscripts are, and how much lower they stand.
inline constexpr double subscript_size = 0.72, subscript_drop = 0.16;

// One sign of a line: where its pen starts and how large it is, for type of size 1.
struct Glyph {
  char32_t point;
  Point pen;
  double size;
};

struct TextLine {
  std::vector<Glyph> glyphs;
  double width = 0;
};

TextLine set_line(std::string_view text, const TextStyle& style);

// How far the base line stands below the point that the style aligns, for type of size 1.
double base_line(const TextStyle& style);

// The outlines of all signs, in logical units; exact to a twentieth of a pixel at that scale.
std::vector<Contour> outlines(const Text& text, double scale);

}  // namespace tapestry::plot
