// The picture of step 07.
#include "course/descent_pictures.hpp"

#include <cmath>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

// Ten times as steep along the second weight; the goal is (1, -1).
double loss(const Tensor& w) {
  const double a = double{w.at({0})} - 1, b = double{w.at({1})} + 1;
  return a * a + 100 * b * b;
}

ValleyView view() {
  return {"A valley",
          loss,
          Tensor({2}, {-1, 2}),
          Tensor({2}, {1, -1}),
          {{"plain", {-1, 0, 0.5}, {2, -2, 0}}, {"other", {-1, 1}, {2, -1}}}};
}

}  // namespace

TEST_CASE("grey lines of a valley join points of equal loss around the goal", "[phase0][course]") {
  const std::vector<plot::Series> series = valley_chart(view()).series;
  REQUIRE(series.size() == 4 + 2);
  for (const auto& [at, level] : {std::pair{0, 0.01}, {1, 0.1}, {2, 1.0}, {3, 4.0}}) {
    const plot::Series& ring = series[static_cast<std::size_t>(at)];
    REQUIRE(ring.x.size() == 601);
    for (std::size_t i = 0; i < ring.x.size(); ++i) {
      const double a = ring.x[i] - 1, b = ring.y[i] + 1;
      CHECK(a * a + 100 * b * b == Approx(level));
    }
    CHECK(ring.x[0] == Approx(1 + std::sqrt(level)));
    CHECK(ring.y[150] == Approx(-1 + std::sqrt(level) / 10));
    CHECK(ring.x[300] == Approx(1 - std::sqrt(level)));
    CHECK((ring.name.empty() && !ring.markers));
  }
}

TEST_CASE("paths through a valley are marked at each step, from start to goal",
          "[phase0][course]") {
  const plot::LineChart valley = valley_chart(view());
  CHECK(valley.series[4].name == "plain");
  CHECK(valley.series[4].x == std::vector<double>{-1, 0, 0.5});
  CHECK(valley.series[4].y == std::vector<double>{2, -2, 0});
  CHECK(valley.series[4].markers);
  CHECK(valley.series[5].colour == plot::series_colour(1));
  REQUIRE(valley.annotations.size() == 2);
  CHECK((valley.annotations[0].x == -1 && valley.annotations[0].y == 2));
  CHECK((valley.annotations[1].x == 1 && valley.annotations[1].y == -1));
}

TEST_CASE("two valleys stand side by side", "[phase0][course]") {
  ValleyView other = view();
  other.title = "Another";
  other.paths.pop_back();
  const plot::Canvas canvas = valleys_picture({view(), other});
  CHECK(plot::words(canvas, plot::Role::title) == plot::Names{"A valley", "Another"});
  CHECK(plot::words(canvas, plot::Role::legend) == plot::Names{"plain", "other", "plain"});
  CHECK(plot::words(canvas, plot::Role::note) == plot::Names{"start", "goal", "start", "goal"});
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(valleys_picture({view()}), Error);
  plot::check_snapshot("valleys", 0x1418795AAC18CD76u, canvas);
}
