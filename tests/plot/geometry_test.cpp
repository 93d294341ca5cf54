#include "tapestry/plot/geometry.hpp"

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

TEST_CASE("panels share the area evenly", "[phase0][plot]") {
  const std::vector<Rect> places = panels({10, 20, 320, 210}, 2, 3, 10);
  REQUIRE(places.size() == 6);
  CHECK(places[0] == Rect{10, 20, 100, 100});
  CHECK(places[5] == Rect{230, 130, 100, 100});
  CHECK(panels({1, 2, 0.5, 0.25}, 1, 1) == std::vector<Rect>{{1, 2, 0.5, 0.25}});
  CHECK(contains(words_of_error([] { (void)panels({0, 0, 100, 100}, 0, 2); }), "0 x 2 panels"));
  CHECK(contains(words_of_error([] { (void)panels({0, 0, 100, 100}, 2, 0); }), "2 x 0 panels"));
  CHECK_THROWS_AS(panels({0, 0, 20, 100}, 1, 3), Error);
  CHECK_THROWS_AS(panels({0, 0, 20, 100}, 1, 2, 20), Error);  // the gap takes all
  CHECK_THROWS_AS(panels({0, 0, 100, 20}, 2, 1, 20), Error);
}

}  // namespace
}  // namespace tapestry::plot
