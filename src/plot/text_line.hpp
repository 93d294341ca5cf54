// One line of text: its glyphs, their positions and their outlines.
#pragma once

#include <string_view>
#include <vector>

#include "plot/raster.hpp"
#include "tapestry/plot/element.hpp"

namespace tapestry::plot {

// The relative size of subscripts, and how much lower they are.
inline constexpr double subscript_size = 0.72, subscript_drop = 0.16;

// One glyph of a line: its pen position and size, for type of size 1.
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

// How far the base line is below the point that the style aligns, for type of size 1.
double base_line(const TextStyle& style);

// The outlines of all glyphs, in logical units; exact to a twentieth of a pixel at that scale.
std::vector<Contour> outlines(const Text& text, double scale);

}  // namespace tapestry::plot
