// The picture of step 69.
#include "course/translation_pictures.hpp"

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

TEST_CASE("each head has a map of the words it says and where it looks, without <eos>",
          "[phase6][course]") {
  const Translation one = translate({"cats", "chase", "birds"});
  const Tensor weights = reshape(Tensor::arange(4 * 4 * 3), {1, 4, 4, 3}) / 48;  // (1, 4, 4, 3)
  const plot::HeatmapGrid grid = maps_of_translation(weights, one);
  REQUIRE(grid.maps.size() == 4);
  const plot::Heatmap& map = grid.maps[2];
  CHECK(map.title == "head 2");
  CHECK(map.row_labels == one.target);
  CHECK(map.column_labels == one.source);
  REQUIRE(map.values.size() == 9);
  CHECK(map.values[0] == Approx(24.0 / 48));
  CHECK(map.values[8] == Approx(32.0 / 48));  // the next three say <eos>
  CHECK_THROWS_AS(maps_of_translation(slice(weights, 2, 0, 3), one), Error);
  const plot::Canvas canvas = plot::render(grid, 340, 1.5);
  CHECK(plot::words(canvas, plot::Role::row_axis) == plot::Names{"says"});
  CHECK(plot::trouble(canvas) == "");
  plot::check_snapshot("translation", 0xC858A75A9AB61705u, canvas);
}
