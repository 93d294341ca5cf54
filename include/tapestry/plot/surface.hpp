// A matrix as a 3-D bar chart: query × key × weight, one bar per cell, from any angle.
#pragma once

#include <vector>

#include "tapestry/plot/heatmap.hpp"

namespace tapestry::plot {

// The view: both in degrees. At turn 0 rows and columns are as in a heatmap tilted back, the first
// row at the far side; a larger turn moves the right side away from the viewer. The projection is
// orthographic, so equal heights look equal everywhere.
struct View {
  double turn = 30;
  double tilt = 35;  // 10: nearly from the side; 80: nearly from above
};

// Draws the heatmap's cells as bars: height and colour are the value, from the low end of the range
// (the floor) to the high one. Cells that are masked or NaN are flat. The values are not printed;
// everything else of the heatmap applies. The scale does not depend on the turn. More than 32 rows
// or columns are averaged in blocks with a note that says so.
// Throws Error as for a heatmap, for a turn that is not finite and a tilt outside 10 ... 80.
void draw_surface(Canvas& canvas, Rect area, const Heatmap& heatmap, View view = {});

// A picture of `size` logical units.
[[nodiscard]] Canvas render_surface(const Heatmap& heatmap, View view = {}, Size size = {720, 560},
                                    double scale = 2);

// One full turn, for write_gif. Throws Error unless frames is 1 to 360.
[[nodiscard]] std::vector<Canvas> surface_360(const Heatmap& heatmap, int frames = 48,
                                              double tilt = 35, Size size = {720, 560},
                                              double scale = 1);

}  // namespace tapestry::plot
