// Where the parts of a heatmap go: checks, pooling, colour range, and room for labels.
#pragma once

#include <string>
#include <vector>

#include "tapestry/plot/heatmap.hpp"

namespace tapestry::plot {

inline constexpr double bar_width = 14, bar_gap = 18, shortest_bar = 90;  // of the colour bar

// The values at both ends of the colour map.
struct ColourRange {
  double low = 0, high = 1;
  double share(double value) const { return (value - low) / (high - low); }
};

struct HeatmapLayout {
  std::vector<std::string> row_labels, column_labels;
  double left = 0, bottom = 0, right = 0;  // room for labels and bar around the cells
  bool upright = false;                    // column labels turned by 90 degrees
  ColourRange range;
};

// Throws Error as draw(Canvas&, Rect, const Heatmap&) documents.
void check(const Heatmap& map);

// The heatmap itself, or, when a side is too long, means of blocks and the words that admit it.
struct PooledHeatmap : Heatmap {
  std::int64_t row_block = 1, column_block = 1;
};
PooledHeatmap pooled(const Heatmap& map);

// Column labels lie flat when the widest fits above a cell of this width.
HeatmapLayout layout_for(const PooledHeatmap& map, double cell_width);

// Labels are words of the data: shown as they are.
TextStyle label_style();

// Width and height of cells at which values can be read.
Size comfortable_cells(const Heatmap& map);

// The largest cells for this room; square unless the matrix is a long strip.
Size fitted_cells(const Heatmap& map, double width, double height);

}  // namespace tapestry::plot
