// The outlines of round shapes and dashed lines, as polygons.
#pragma once

#include "plot/raster.hpp"

namespace tapestry::plot {

// `scale` is pixels per unit: larger shapes get more corners.
Contour circle(Point centre, double radius, double scale);

// A rectangle with round corners, where the radius is above 0.
Contour rounded(const Rect& rect, double corner_radius, double scale);

// Round caps lengthen a dash by the line's width, so it is shortened by it.
double inked_part(double dash, double width);

// The dashes of a line, cut at its corners: stroking joins touching ones.
std::vector<Contour> dashes(const Contour& line, double dash, double width);

}  // namespace tapestry::plot
