#include "plot/swarm.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "plot/snapshot.hpp"

namespace tapestry::plot {
namespace {

// How far two dots are apart at their nearest points.
double distance(const Extent& a, double a_moved, const Extent& b, double b_moved) {
  return std::hypot(std::max({a.from - b.to, b.from - a.to, 0.0}), a_moved - b_moved);
}

TEST_CASE("dots that are apart stay, equal ones move to both sides", "[phase5][plot]") {
  CHECK(swarm({}, 8).empty());
  CHECK(swarm({{3, 3}}, 8) == std::vector<double>{0});
  CHECK(swarm({{16, 16}, {0, 0}, {8, 8}}, 8) == std::vector<double>{0, 0, 0});
  CHECK(swarm({{5, 5}, {5, 5}, {5, 5}, {5, 5}}, 8) == std::vector<double>{0, 8, -8, 16});
  const std::vector<double> moved = swarm({{0, 0}, {3, 3}}, 5);
  CHECK(moved[0] == 0);
  CHECK(moved[1] == Approx(4));  // 3, 4 and 5 are the sides of a right triangle
}

TEST_CASE("a dot with an arrow keeps others off the arrow", "[phase5][plot]") {
  CHECK(swarm({{0, 11}, {10, 10}}, 5)[1] == 5);
  CHECK(swarm({{0, 0}, {10, 10}}, 5)[1] == 0);
  CHECK(swarm({{0, 11}, {14, 14}}, 5)[1] == Approx(4));
}

TEST_CASE("a dot may touch the dots on both of its sides", "[phase5][plot]") {
  const std::vector<Extent> dots{{0, 0}, {0, 0}, {0, 0}, {0, 20}, {10, 10}, {10, 10}};
  CHECK(swarm(dots, 8) == std::vector<double>{0, 8, -8, 16, 0, 8});
}

TEST_CASE("no two dots of a swarm touch, and none could stay nearer", "[phase5][plot]") {
  for (const std::size_t count : {2u, 7u, 60u}) {
    std::vector<Extent> dots;
    for (const double at : sample_values(count, 0, 90)) dots.push_back({at, at});
    for (std::size_t i = 0; i < count; i += 5) dots[i].to += 11;
    const std::vector<double> moved = swarm(dots, 8);
    CHECK(moved == swarm(dots, 8));
    double least = 1e9;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        least = std::min(least, distance(dots[i], moved[i], dots[k], moved[k]));
      }
    }
    CAPTURE(count);
    CHECK(least > 8 - 1e-6);
    // Every dot that was moved touches another, or it would stand nearer to the middle.
    for (std::size_t i = 0; i < count; ++i) {
      bool touches = moved[i] == 0;
      for (std::size_t k = 0; k < count && !touches; ++k) {
        touches = k != i && distance(dots[i], moved[i], dots[k], moved[k]) < 8 + 1e-6;
      }
      CHECK(touches);
    }
  }
}

}  // namespace
}  // namespace tapestry::plot
