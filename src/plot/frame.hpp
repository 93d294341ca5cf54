// Common parts of all charts: type sizes, the title block, the legend, axes with ticks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {

namespace type {  // sizes of the em square in logical units
inline constexpr double title = 17, subtitle = 12, label = 13, tick = 11.5, small = 10.5;
}

inline constexpr double margin = 24;  // of a whole picture

// Height that the title block will take (0 without title and subtitle), for a block this wide.
double title_height(const std::string& title, const std::string& subtitle, double width);

// Writes title and subtitle at the top of `area`, left-aligned, wrapped; returns the area below.
Rect draw_title(Canvas& canvas, Rect area, const std::string& title, const std::string& subtitle);

// Breaks at blanks so that every line is at most `width` wide; a single longer word is cut.
std::vector<std::string> wrap(const std::string& text, double width, const TextStyle& style);

struct LegendEntry {
  std::string name;
  Colour colour;
  bool line = true, marker = false, dashed = false;  // neither line nor marker: a filled square
  bool hollow = false;                               // of the marker
  bool whiskers = false;  // instead of all these: a mean and its interval
};

// One entry after another from the left, in as many rows as needed; returns the area below.
Rect draw_legend(Canvas& canvas, Rect area, const std::vector<LegendEntry>& entries);

// The number of values of a matrix, both sizes at least 1. Throws Error, begun by error_prefix, if
// the product exceeds memory: an overflow would accept too few values.
std::size_t cells_of(const std::string& error_prefix, std::int64_t rows, std::int64_t columns);

// The largest width of the texts, 0 for none.
double widest(const std::vector<std::string>& texts, const TextStyle& style);

}  // namespace tapestry::plot
