// Projection of a 3-D bar chart: where its points are on the canvas, and in which order its cells
// have to be drawn. The floor is a grid of square cells.
#pragma once

#include <cstdint>
#include <vector>

#include "tapestry/plot/geometry.hpp"
#include "tapestry/plot/surface.hpp"

namespace tapestry::plot {

// x along a row (towards larger columns), y towards smaller rows, z up; a cell is 1 × 1, the middle
// of the floor is the origin.
struct Point3 {
  double x, y, z;
};

// One of the four sides of the floor, by its outward normal: (±1, 0) or (0, ±1).
struct Side {
  double x, y;
};

class Scene {
 public:
  // `unit` is the width of a cell and `origin` the middle of the floor, on the canvas.
  Scene(std::int64_t rows, std::int64_t columns, View view, double unit, Point origin);

  Point at(Point3 p) const;
  // Distance from the viewer: larger is behind.
  double depth(double x, double y) const { return sin_turn_ * x + cos_turn_ * y; }
  bool faces_viewer(Side side) const { return depth(side.x, side.y) < 0; }
  // How much a side faces right, from -1 to 1.
  double to_the_right(Side side) const { return cos_turn_ * side.x - sin_turn_ * side.y; }
  // The outward normal of that side on the canvas, of length 1.
  Point outward(Side side) const;

  // The side with the labels of the rows (of the columns): the nearer one.
  Side row_side() const { return {sin_turn_ < -1e-9 ? 1.0 : -1.0, 0}; }
  Side column_side() const { return {0, cos_turn_ < -1e-9 ? 1.0 : -1.0}; }

  // The least distance of outward lines from two neighbouring marks, at any turn.
  double least_pitch() const { return sin_tilt_ * unit_; }

  double width() const { return width_; }    // of the floor, along x
  double length() const { return length_; }  // along y
  double height() const { return height_; }  // of the highest bar
  // The corners of the floor, in order.
  std::vector<Point3> corners() const;
  // The centre of cell (row, column) on the floor.
  Point middle(double row, double column) const {
    return {column + 0.5 - width_ / 2, length_ / 2 - row - 0.5};
  }
  // The start of the label of that row (column), at the edge.
  Point3 row_mark(double row) const;
  Point3 column_mark(double column) const;

 private:
  double sin_turn_, cos_turn_, sin_tilt_, cos_tilt_, unit_;
  Point origin_;
  double width_, length_, height_;
};

}  // namespace tapestry::plot
