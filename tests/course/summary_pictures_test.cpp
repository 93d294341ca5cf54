// The pictures of step 37.
#include "course/summary_pictures.hpp"

#include <cmath>

#include "catch.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("maps of words: numbers in few cells, what lies ahead masked, zeros grey",
          "[phase4][course]") {
  const Tensor weights({2, 2}, {0.5, 0, 0.25, 1});  // (2, 2)
  const plot::Heatmap map = word_map(weights, {"a", "b"}, "title", "finding");
  CHECK(map.values == Numbers{0.5, 0, 0.25, 1});
  CHECK((map.title == "title" && map.subtitle == "finding"));
  CHECK(map.print == plot::PrintValues::automatic);
  CHECK(word_map(Tensor::ones({6, 6}), Words(6, "a"), "").print == plot::PrintValues::automatic);
  CHECK(word_map(Tensor::ones({7, 7}), Words(7, "a"), "").print == plot::PrintValues::never);
  CHECK(map.masked.empty());
  const plot::Heatmap causal = causal_map(weights, {"a", "b"}, "title", "finding");
  CHECK(causal.masked == std::vector<bool>{false, true, false, false});
  const Numbers norms = derivative_map(weights * 4, {"a", "b"}, "finding").values;
  CHECK((norms[0] == 0.5 && std::isnan(norms[1]) && norms[2] == 0.25 && norms[3] == 1));
}

TEST_CASE("a grid has a map for each head", "[phase4][course]") {
  const Tensor weights({3, 1, 1}, {0.25, 0.5, 1});  // (heads, 1, 1)
  const plot::HeatmapGrid grid = head_maps(weights, {"a"}, "finding");
  REQUIRE(grid.maps.size() == 3);
  CHECK(grid.columns == 2);
  CHECK((grid.maps[1].title == "head 1" && grid.maps[1].values == Numbers{0.5}));
  CHECK(grid.subtitle == "finding");
}

TEST_CASE("charts of the summary have their series in order", "[phase4][course]") {
  const plot::LineChart scale = scale_chart({8, 32}, {1, 2}, {3, 4}, "finding");
  REQUIRE(scale.series.size() == 2);
  CHECK((scale.series[0].name == "divided" && scale.series[0].y == Numbers{1, 2}));
  CHECK((scale.series[1].name == "not divided" && scale.series[1].y == Numbers{3, 4}));
  CHECK((scale.series[1].x == Numbers{8, 32} && scale.series[1].markers));
  CHECK(scale.series[0].colour == plot::series_colour(3));
  CHECK(scale.series[1].colour == plot::series_colour(2));
  const plot::BarChart width = width_chart({1, 2, 3, 4}, {5, 6, 7, 8}, "finding");
  REQUIRE(width.series.size() == 2);
  CHECK((width.series[0].name == "trained" && width.series[0].values == Numbers{1, 2, 3, 4}));
  CHECK((width.series[1].name == "untrained" && width.series[1].values == Numbers{5, 6, 7, 8}));
  CHECK(width.labels.size() == 4);
  const plot::BarChart name = name_chart(Numbers(8, 1), Numbers(8, 2), Numbers(8, 3), "finding");
  REQUIRE(name.series.size() == 3);
  CHECK((name.series[0].name == "trained" && name.series[0].values[0] == 1));
  CHECK((name.series[1].name == "untrained" && name.series[1].values[0] == 2));
  CHECK((name.series[2].name == "old place, letters mixed" && name.series[2].values[0] == 3));
  CHECK(name.labels.at(5) == "1.1");
  const plot::LineChart cut = cut_chart({0.5, 1}, {2, 3}, "finding");
  REQUIRE(cut.series.size() == 1);
  CHECK((cut.series[0].x == Numbers{0.5, 1} && cut.series[0].y == Numbers{2, 3}));
  CHECK((!cut.series[0].line && cut.series[0].markers));
  for (const std::string& subtitle :
       {scale.subtitle, width.subtitle, name.subtitle, cut.subtitle}) {
    CHECK(subtitle == "finding");
  }
}
