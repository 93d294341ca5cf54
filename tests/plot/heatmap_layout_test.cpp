#include "plot/heatmap_layout.hpp"

#include <limits>
#include <utility>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/frame.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

PooledHeatmap of_size(std::int64_t rows, std::int64_t columns) {
  PooledHeatmap map;
  map.rows = rows;
  map.columns = columns;
  map.values.assign(static_cast<std::size_t>(rows * columns), 0.5);
  map.colours = ColourMap::viridis;
  map.low = 0;
  map.high = 1;
  return map;
}

double width_of(const std::string& text, double size) { return measure_text(text, {size}).width; }

TEST_CASE(
    "blocks have the mean of what is not masked, and the labels of their first row and column",
    "[phase1][plot]") {
  Heatmap map = of_size(5, 3);
  map.values = {1, 3, 7,    //
                5, 7, 9,    //
                0, 8, 100,  //
                2, 4, 6,    //
                4, 2, 8};
  map.row_labels = {"a", "b", "c", "d", "e"};
  map.column_labels = {"x", "y", "z"};
  map.subtitle = "head 1";
  const PooledHeatmap plain = pooled(map, 2);
  CHECK(plain.rows == 2);
  CHECK(plain.columns == 2);
  CHECK(plain.row_block == 3);
  CHECK(plain.column_block == 2);
  CHECK(plain.values[0] == 4);
  CHECK(plain.values[1] == Approx(116.0 / 3));
  CHECK(plain.values[2] == 3);
  CHECK(plain.values[3] == 7);
  CHECK(plain.masked.empty());
  CHECK(plain.row_labels == Names{"a", "d"});
  CHECK(plain.column_labels == Names{"x", "z"});
  CHECK(plain.subtitle == "head 1 · 5 × 3 values; each cell is the mean of 3 × 2");
  map.subtitle = "";
  map.masked.assign(15, false);
  map.masked[8] = map.masked[11] = map.masked[14] = true;
  const PooledHeatmap gaps = pooled(map, 2);
  CHECK(gaps.values == std::vector<double>{4, 8, 3, 0});
  CHECK(gaps.masked == std::vector<bool>{false, false, false, true});
  CHECK(gaps.subtitle == "5 × 3 values; each cell is the mean of 3 × 2");
  CHECK(pooled(map, 5).values == map.values);
}

TEST_CASE("around a heatmap is room for its words and its bar", "[phase1][plot]") {
  PooledHeatmap map = of_size(2, 3);
  map.row_labels = {"a", "wide"};
  map.column_labels = {"b", "c", "d"};
  const auto layout = [&] { return layout_for(map, any_width); };
  const double bar = 18 + 14 + 7;
  CHECK(layout().left == width_of("wide", 13) + 9 + 26);
  CHECK(layout().right == bar + width_of("0.2", 11.5));
  CHECK(layout().bottom == 24 + 24);
  map.row_axis = map.column_axis = "";
  map.colour_bar_name = "score";
  CHECK(layout().left == width_of("wide", 13) + 9);
  CHECK(layout().right == bar + width_of("0.2", 11.5) + 22);
  CHECK(layout().bottom == 24);
  map.colour_bar_name = "";
  map.high = 3.2;
  CHECK(layout().right == bar + width_of("0.5", 11.5));
  map.high = 4;
  CHECK(layout().right == bar + width_of("4", 11.5));
  map.values[4] = none;
  CHECK(layout().right == bar + width_of("NaN", 11.5));
  map.masked.assign(6, false);
  CHECK(layout().right == bar + width_of("masked", 11.5));
  map.colour_bar = false;
  CHECK(layout().right == 2);
}

TEST_CASE("labels of columns stand upright where one touches another", "[phase1][plot]") {
  PooledHeatmap map = of_size(1, 3);
  map.row_labels = {""};
  const auto turned = [&](double cell) { return layout_for(map, cell).turned; };
  for (const Names& labels : {Names{"ab", "cde", "f"}, {"f", "cde", "ab"}}) {
    map.column_labels = labels;
    const double needed = (width_of("ab", 13) + width_of("cde", 13)) / 2 + 6;
    CHECK_FALSE(turned(needed));
    CHECK(turned(needed - 0.01));
  }
  CHECK(layout_for(map, 5).bottom == width_of("cde", 13) + 9 + 24);
  map.column_labels = {"i", "i", "i"};
  CHECK(turned(5));
  CHECK(layout_for(map, 5).bottom == 24 + 24);
}

TEST_CASE("labels of columns stand upright where one reaches beyond the sides", "[phase1][plot]") {
  PooledHeatmap map = of_size(1, 1);
  map.row_labels = {""};
  map.column_labels = {"interpretation"};
  const double half = width_of("interpretation", 13) / 2;
  const auto check_side = [&](double room) {
    CHECK_FALSE(layout_for(map, 2 * (half - room)).turned);
    CHECK(layout_for(map, 2 * (half - room) - 0.01).turned);
  };
  check_side(12);  // up to the bar
  map.row_axis = "";
  check_side(9);  // to the left
  map.colour_bar = false;
  check_side(2);  // to the right
}

TEST_CASE("cells of strips are up to twice as high as wide", "[phase1][plot]") {
  const auto cells = [](std::int64_t rows, std::int64_t columns) {
    const Size cell = comfortable_cells(of_size(rows, columns));
    return std::pair{cell.width, cell.height};
  };
  using Sizes = std::pair<double, double>;
  CHECK(cells(1, 12) == Sizes{46, 60});
  CHECK(cells(12, 1) == Sizes{60, 46});
  CHECK(cells(1, 30) == Sizes{26, 52});
  CHECK(cells(2, 30) == Sizes{26, 30});
  CHECK(cells(12, 12) == Sizes{46, 46});
}

TEST_CASE("cells are stretched where one side has more than four times the other's",
          "[phase1][plot]") {
  const auto cells = [](std::int64_t rows, std::int64_t columns, double width, double height) {
    const Size cell = fitted_cells(of_size(rows, columns), width, height);
    return std::pair{cell.width, cell.height};
  };
  using Sizes = std::pair<double, double>;
  CHECK(cells(1, 4, 40, 100) == Sizes{10, 10});
  CHECK(cells(1, 5, 40, 100) == Sizes{8, 16});
  CHECK(cells(5, 1, 100, 40) == Sizes{16, 8});
  CHECK(cells(1, 5, 40, 12) == Sizes{8, 12});
}

TEST_CASE("a range has no masked values, and a width", "[phase1][plot]") {
  const auto ends = [](const Heatmap& map) {
    const ColourRange range = range_of(map);
    return std::pair{range.low, range.high};
  };
  using Ends = std::pair<double, double>;
  Heatmap map = of_size(1, 3);
  map.low = map.high = {};
  map.values = {0.25, 9, 0.5};
  map.masked = {false, true, false};
  CHECK(ends(map) == Ends{0, 0.5});
  map.values = {-2, 9, -1};
  CHECK(ends(map) == Ends{-2, -1});
  map.masked = {true, true, true};
  CHECK(ends(map) == Ends{-0.5, 0.5});
  map.colours = ColourMap::blue_orange;
  CHECK(ends(map) == Ends{-0.5, 0.5});
  map.low = map.high = 0.25;
  CHECK(ends(map) == Ends{-0.25, 0.75});
  map.low = map.high = -3;
  CHECK(ends(map) == Ends{-4.5, -1.5});
}

TEST_CASE("weights of up to 32 keys are shown from 0 to 1", "[phase1][plot]") {
  const auto high = [](std::size_t keys) {
    return attention_heatmap(std::vector<double>(keys), {"a"}, Names(keys, "b")).high;
  };
  CHECK(high(32) == 1);
  CHECK_FALSE(high(33));
}

TEST_CASE("a low heatmap is as high as its bar and key", "[phase1][plot]") {
  Heatmap map = of_size(1, 1);
  CHECK(natural_size(map).height == 90 + 56);
  map.colour_bar = false;
  CHECK(natural_size(map).height == 62 + 1 + 24 + 24);
}

TEST_CASE("as many indices are written as have a gap of 10", "[phase1][plot]") {
  Heatmap map = attention_heatmap(std::vector<double>(10), {""}, Names(10, ""));
  map.column_labels.clear();
  map.row_axis = map.column_axis = "";
  map.colour_bar = false;
  const double needed = 10 * (measure_text("0", {type::label}).width + 10);
  for (const double more : {-4.0, 4.0}) {
    Canvas canvas(400, 300, 1);
    draw(canvas, {0, 0, 9 + needed + 2 + more, 300}, map);
    CHECK(words(canvas, Role::column_label).size() == (more > 0 ? 10u : 5u));
  }
}

TEST_CASE("a heatmap names the size or the list that is wrong", "[phase1][plot]") {
  const auto said = [](const Heatmap& map) { return words_of_error([&] { check(map); }); };
  CHECK(said(of_size(0, 3)) ==
        "heatmap: 0 rows x 3 columns have nothing to show; both must be at "
        "least 1");
  CHECK(contains(said(of_size(3, 0)), "3 rows x 0 columns have nothing to show"));
  CHECK(said(of_size(1, 1)) == "");
  Heatmap map = of_size(2, 3);
  map.masked.assign(5, false);
  CHECK(contains(said(map), "need 6 masked flags, but 5 were given"));
  map.masked.clear();
  map.column_labels = {"a", "b"};
  CHECK(contains(said(map), "need 3 column labels, but 2 were given"));
}

}  // namespace
}  // namespace tapestry::plot
