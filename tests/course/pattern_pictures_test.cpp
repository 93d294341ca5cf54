// The tables and pictures of step 62.
#include "course/pattern_pictures.hpp"

#include "catch.hpp"

using namespace tapestry;

namespace {

const std::vector<NamedMask> five = {{"all", {}},
                                     {"causal", Mask::causal()},
                                     {"local(0)", Mask::local(0)},
                                     {"strided(2)", Mask::strided(2)},
                                     {"blocked(2)", Mask::blocked(2)}};

const std::vector<PatternCost> costs = {
    {"all", 1, 1, 0.01, 0.04}, {"a half", 0.5, 0.75, 0.004, 0.01}, {"few", 0.016, 1, 0.001, 0.005}};

}  // namespace

TEST_CASE("patterns stand four in a row, as text and as maps", "[phase6][course]") {
  CHECK(patterns_side_by_side(five, 3) ==
        "all                       causal                    local(0)                  strided(2)\n"
        "✓ ✓ ✓                     ✓ · ·                     ✓ · ·                     ✓ · ✓ \n"
        "✓ ✓ ✓                     ✓ ✓ ·                     · ✓ ·                     · ✓ · \n"
        "✓ ✓ ✓                     ✓ ✓ ✓                     · · ✓                     ✓ · ✓ \n"
        "\n"
        "blocked(2)\n"
        "✓ ✓ · \n"
        "✓ ✓ · \n"
        "· · ✓ \n"
        "\n");
  CHECK(patterns_side_by_side({}, 3) == "");
  const plot::HeatmapGrid grid = pattern_maps(five, 2);
  CHECK(grid.columns == 4);
  REQUIRE(grid.maps.size() == 5);
  CHECK(grid.maps[1].title == "causal");
  CHECK(grid.maps[1].values == std::vector<double>{0, 1, 0, 0});
  CHECK(grid.maps[4].title == "blocked(2)");
  CHECK(grid.maps[4].row_labels == std::vector<std::string>{"0", "1"});
  CHECK(grid.maps[4].column_labels == std::vector<std::string>{"0", "1"});
}

TEST_CASE("costs of patterns are shares of what there is without one", "[phase6][course]") {
  CHECK(counts_of_patterns(costs) ==
        "   to be computed           pairs    blocks\n"
        "   all                    100.0 %   100.0 %\n"
        "   a half                  50.0 %    75.0 %\n"
        "   few                      1.6 %   100.0 %\n");
  // Time: 1, 0.25 and 0.125; off by 0, 0.25 and 0.109 from pairs, by 0, 0.5 and 0.875 from blocks.
  CHECK(times_of_patterns(costs) ==
        "   all                      10.00 (100 %)    40.00 (100 %)\n"
        "   a half                    4.00 ( 40 %)    10.00 ( 25 %)\n"
        "   few                       1.00 ( 10 %)     5.00 ( 12 %)\n"
        "   Share of time, mean distance from that of pairs: 12 %, of blocks: 46 %\n");
  const plot::BarChart chart = shares_of_patterns(costs);
  CHECK(chart.labels == std::vector<std::string>{"all", "a half", "few"});
  REQUIRE(chart.series.size() == 3);
  CHECK(chart.series[0].name == "pairs");
  CHECK(chart.series[0].values == std::vector<double>{1, 0.5, 0.016});
  CHECK(chart.series[1].name == "blocks");
  CHECK(chart.series[1].values == std::vector<double>{1, 0.75, 1});
  CHECK(chart.series[2].name == "time");
  CHECK(chart.series[2].values == std::vector<double>{1, 0.25, 0.125});
}
