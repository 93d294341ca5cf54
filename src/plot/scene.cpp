#include "plot/scene.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tapestry::plot {

Scene::Scene(std::int64_t rows, std::int64_t columns, View view, double unit, Point origin)
    : unit_(unit),
      origin_(origin),
      width_(static_cast<double>(columns)),
      length_(static_cast<double>(rows)),
      height_(0.6 * std::max(width_, length_)) {
  const double turn = std::remainder(view.turn, 360) * std::numbers::pi / 180;
  const double tilt = view.tilt * std::numbers::pi / 180;
  sin_turn_ = std::sin(turn);
  cos_turn_ = std::cos(turn);
  sin_tilt_ = std::sin(tilt);
  cos_tilt_ = std::cos(tilt);
}

Point Scene::at(Point3 p) const {
  const double right = cos_turn_ * p.x - sin_turn_ * p.y;
  const double up = cos_tilt_ * p.z + sin_tilt_ * depth(p.x, p.y);
  return {origin_.x + unit_ * right, origin_.y - unit_ * up};
}

Point Scene::outward(Side side) const {
  const Point p{to_the_right(side), -sin_tilt_ * depth(side.x, side.y)};
  return (1 / std::hypot(p.x, p.y)) * p;
}

std::vector<Point3> Scene::corners() const {
  const double x = width_ / 2, y = length_ / 2;
  return {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
}

Point3 Scene::row_mark(double row) const {
  return {row_side().x * width_ / 2, middle(row, 0).y, 0};
}

Point3 Scene::column_mark(double column) const {
  return {middle(0, column).x, column_side().y * length_ / 2, 0};
}

}  // namespace tapestry::plot
