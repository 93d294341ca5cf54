// A grid of small heatmaps on one scale: layers × heads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tapestry/plot/heatmap.hpp"

namespace tapestry::plot {

// The maps are row by row (all heads of layer 0 first), each below its own title. The first map
// gives the colours, low and high (automatic: over all maps), and the names of axes and bar, which
// are written once.
struct HeatmapGrid {
  std::int64_t columns = 1;  // maps in one row: the number of heads
  std::vector<Heatmap> maps = {};
  std::string title = {}, subtitle = {};
};

// Draws into `area`. Where all maps have the same labels and cells are large enough, they are
// written at the left and the lower rim of the grid. More than 128 rows or columns of a map are
// averaged in blocks with a note that says so.
// Throws Error when there are no maps, when columns is not positive, when a map alone would throw
// (as for a heatmap) or has other colours than the first, and when the area is too small.
void draw(Canvas& canvas, Rect area, const HeatmapGrid& grid);

// A picture with room for maps `side` logical units wide.
[[nodiscard]] Canvas render(const HeatmapGrid& grid, double side = 150, double scale = 2);

}  // namespace tapestry::plot
