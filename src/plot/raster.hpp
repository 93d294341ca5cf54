// Shapes to pixels: how much of each pixel a shape covers. All coordinates are device pixels.
#pragma once

#include <algorithm>
#include <vector>

#include "tapestry/plot/geometry.hpp"

namespace tapestry::plot {

using Contour = std::vector<Point>;

// Whole pixels: columns left..right-1, rows top..bottom-1.
struct PixelBox {
  int left = 0, top = 0, right = 0, bottom = 0;
  int width() const { return std::max(0, right - left); }
  int height() const { return std::max(0, bottom - top); }
};

// The covered share in [0, 1] of every pixel in `box`, row by row.
struct Mask {
  PixelBox box;
  std::vector<float> coverage;
};

// Closed contours, filled. Coverage is the exact area |winding number × area|, at most 1: contours
// of opposite direction cut holes, of equal direction unite. A non-finite point draws nothing.
Mask fill_mask(const std::vector<Contour>& contours, const PixelBox& clip);

// Open lines of the given half width with round caps and joins, united. Coverage falls from 1 to 0
// over one pixel of distance around the edge. Segments with non-finite ends are left out.
Mask stroke_mask(const std::vector<Contour>& lines, double half_width, const PixelBox& clip);

}  // namespace tapestry::plot
