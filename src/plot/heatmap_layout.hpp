// The layout of a heatmap: checks, pooling, colour range, and room for labels.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tapestry/plot/heatmap.hpp"

namespace tapestry::plot {

inline constexpr double bar_width = 14, bar_gap = 18, shortest_bar = 90;  // of the colour bar

// The values at both ends of the colour map.
struct ColourRange {
  double low{}, high{};
  double share(double value) const { return (value - low) / (high - low); }
};

struct HeatmapLayout {
  std::vector<std::string> row_labels, column_labels;
  double left = 0, bottom = 0, right = 0;  // room for labels and bar around the cells
  bool turned = false;                     // column labels are vertical
  ColourRange range;
};

// Throws Error as draw(Canvas&, Rect, const Heatmap&) documents.
void check(const Heatmap& map);

// From values that are finite and not masked, unless low and high are given. Throws Error for ends
// that are not finite or in the wrong order.
ColourRange range_of(const Heatmap& map);

// The heatmap itself, or, when a side is too long, means of blocks and a note that says so.
struct PooledHeatmap : Heatmap {
  std::int64_t row_block = 1, column_block = 1;
};
PooledHeatmap pooled(const Heatmap& map, std::int64_t most_cells = 1024);

// Column labels are horizontal if, below cells of this width, none of them touches another.
constexpr double any_width = std::numeric_limits<double>::infinity();
HeatmapLayout layout_for(const PooledHeatmap& map, double cell_width);

// Labels are words of the data: shown as they are.
TextStyle label_style();

// Every 1st, 2nd, 5th, 10th ... label, so that neighbours `pitch` apart do not touch.
std::int64_t label_stride(double pitch, double needed);

// The cells alone, filling `grid`, with their values where they are printed.
void draw_cells(Canvas& canvas, const Rect& grid, const Heatmap& map, const ColourRange& range);

// The legend of grey cells, for below the bar; empty when there are none.
void draw_key(Canvas& canvas, Point at, const Heatmap& map);

// Width and height of cells at which values can be read.
Size comfortable_cells(const Heatmap& map);

// The largest cells for this room; square unless the matrix is a long strip.
Size fitted_cells(const Heatmap& map, double width, double height);

}  // namespace tapestry::plot
