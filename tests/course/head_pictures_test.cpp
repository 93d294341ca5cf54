// The pictures of steps 74 and 78.
#include "course/head_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

std::vector<CutGroup> two_groups() {
  return {{"3 induction",
           {{"again", 0.18, 0.13, 0.16, {0.03, 0.01, 12}, 0},
            {"own", 0.08, 0.04, 0.06, {0.02, 0, 12}, 0},
            {"other", -0.02, -0.04, -0.03, {0.01, 0.01, 12}, 0}}},
          {"12 induction",
           {{"again", 0.32, 0.19, 0.26, {0.06, 0.01, 12}, 0},
            {"own", 0.17, 0.09, 0.11, {0.07, 0.01, 12}, 0},
            {"other", 0.02, -0.04, -0.02, {0.05, 0.01, 12}, 0}}}};
}

}  // namespace

TEST_CASE("a map of scores has the means over the texts", "[phase7][course]") {
  Tensor scores = Tensor::zeros({5, 2, 3, 2});  // (kinds, layers, heads, rows)
  scores.set({4, 1, 2, 0}, 0.5), scores.set({4, 1, 2, 1}, 1);
  const plot::HeatmapGrid grid = score_maps({{"first", scores}, {"second", scores}});
  CHECK(grid.columns == 5);
  REQUIRE(grid.maps.size() == 10);
  for (const std::size_t i : {4, 9}) {
    CHECK(grid.maps[i].values == std::vector<double>{0, 0, 0, 0, 0, 0.75});
    CHECK(grid.maps[i].rows == 2);
    CHECK(grid.maps[i].columns == 3);
  }
  CHECK(grid.maps[3].values == std::vector<double>(6, 0));
  CHECK(grid.maps[0].title == "first position: first");
  CHECK(grid.maps[9].title == "induction: second");
  CHECK(grid.maps[0].low == 0.0);
  CHECK(grid.maps[0].high == 1.0);
  CHECK(score_maps({}).maps.empty());
}

TEST_CASE("what cuts cost stands in a chart for each sort of texts", "[phase7][course]") {
  const plot::Canvas canvas = bars_of_cuts(two_groups());
  const plot::Names values = plot::words(canvas, plot::Role::value);
  CHECK(values == plot::Names{"0.18", "0.13", "0.03", "0.32", "0.19", "0.06", "0.08", "0.04",
                              "0.02", "0.17", "0.09", "0.07", "−0.02", "−0.04", "0.01", "0.02",
                              "−0.04", "0.05"});
  CHECK(plot::words(canvas, plot::Role::title).size() == 3);
  CHECK(plot::trouble(canvas) == "");
  CHECK_THROWS_AS(bars_of_cuts({}), Error);
  plot::check_snapshot("bars_of_cuts", 0x96A647F2DDD66961u, canvas);
}
