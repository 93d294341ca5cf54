#include "tapestry/plot/heatmap_grid.hpp"

#include <algorithm>
#include <limits>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

Heatmap map_of(std::vector<double> values, const std::string& title = "") {
  Heatmap map = attention_heatmap(std::move(values), {"a", "b"}, {"a", "b"}, title);
  map.colours = ColourMap::viridis;
  return map;
}

// The middle of all pixels of exactly that colour; fails when there are few.
Point place_of(const Decoded& picture, double share, ColourMap colours = ColourMap::viridis) {
  const Colour colour = colour_at(colours, share);
  Point sum;
  int count = 0;
  for (int row = 0; row < picture.height; ++row) {
    for (int column = 0; column < picture.width; ++column) {
      if (picture.at(column, row) != colour) continue;
      sum = sum + Point{column + 0.5, row + 0.5};
      ++count;
    }
  }
  REQUIRE(count > 500);
  return (1.0 / count) * sum;
}

TEST_CASE("maps stand row by row, each cell in its place, on one scale", "[phase3][plot]") {
  HeatmapGrid grid;
  grid.columns = 2;
  grid.maps = {map_of({0.1, 0, 0, 0}), map_of({0, 0.4, 0, 0}), map_of({0, 0, 0.7, 0}),
               map_of({0, 0, 0, 0.95})};
  for (Heatmap& map : grid.maps) map.colour_bar = false;
  const Decoded picture = decode_png(render(grid, 120, 1));
  const Point a = place_of(picture, 0.1), b = place_of(picture, 0.4), c = place_of(picture, 0.7),
              d = place_of(picture, 0.95);
  // Maps are 120 wide, 14 apart, with 18 for the title; cells are 60.
  CHECK(std::abs(b.x - a.x - (134 + 60)) < 1.5);
  CHECK(std::abs(b.y - a.y) < 1.5);
  CHECK(std::abs(c.x - a.x) < 1.5);
  CHECK(std::abs(c.y - a.y - (152 + 60)) < 1.5);
  CHECK(std::abs(d.x - b.x) < 1.5);
  CHECK(std::abs(d.y - c.y) < 1.5);
}

TEST_CASE("the common range is the first map's, or that of all values", "[phase3][plot]") {
  HeatmapGrid grid;
  grid.columns = 2;
  grid.maps = {map_of({0.5, 0, 0, 0}), map_of({2, 2, 2, 2})};
  grid.maps[0].low = grid.maps[0].high = {};
  grid.maps[1].high = 100;  // does not count
  const Decoded picture = decode_png(render(grid, 120, 1));
  place_of(picture, 0.25);
  place_of(picture, 1);
  grid.maps[0].high = 4;
  place_of(decode_png(render(grid, 120, 1)), 0.5);
}

TEST_CASE("a grid of a map with a middle has 0 in the middle of its range", "[phase3][plot]") {
  HeatmapGrid grid;
  grid.maps = {map_of({0, 0, 0, 0}), map_of({1, 1, 1, -0.5})};
  for (Heatmap& map : grid.maps) {
    map.colours = ColourMap::blue_orange;
    map.low = map.high = {};
  }
  const Decoded picture = decode_png(render(grid, 120, 1));
  place_of(picture, 0.5, ColourMap::blue_orange);
  place_of(picture, 0.25, ColourMap::blue_orange);
  place_of(picture, 1, ColourMap::blue_orange);
}

TEST_CASE("words, titles and the colour bar of a grid stay within the picture", "[phase3][plot]") {
  const std::vector<std::string> words{"internationalisation", "a", "b", "\n", " x"};
  HeatmapGrid grid;
  grid.columns = 3;
  grid.title = "Every head of every layer, with a title that is longer than one line can be";
  for (int k = 0; k < 5; ++k) {  // the last row is not full
    grid.maps.push_back(attention_heatmap(std::vector<double>(25, 0.2), words, words,
                                          "layer 1, head " + std::to_string(k)));
  }
  for (const double side : {30.0, 100.0, 200.0}) {
    CHECK(trouble(render(grid, side, 1)) == "");
  }
  const int with = render(grid, 100, 1).pixel_width();
  grid.maps[4].row_labels[0] = "another";  // not the same words everywhere: none are written
  CHECK(render(grid, 100, 1).pixel_width() < with);
  grid.columns = 7;  // more than there are maps
  CHECK(trouble(render(grid, 60, 1)) == "");
}

TEST_CASE("a grid of long maps is pooled and drawn", "[phase3][plot]") {
  Heatmap map;
  map.rows = 1;
  map.columns = 256;
  for (int j = 0; j < 256; ++j) map.values.push_back(j % 2);
  map.colours = ColourMap::viridis;
  map.low = 0;
  map.high = 1;
  HeatmapGrid grid;
  grid.maps = {map};
  CHECK(has_clean_border(decode_png(render(grid, 150, 1))));
  Canvas canvas(500, 300, 2);
  draw(canvas, canvas.area(), grid);
  place_of(decode_png(canvas), 0.5);
}

TEST_CASE("maps of a grid beyond 128 rows or columns are means of blocks, which is said",
          "[phase3][plot]") {
  const auto subtitle = [](std::int64_t columns) {
    HeatmapGrid grid;
    grid.maps.resize(1);
    grid.maps[0].rows = 2;
    grid.maps[0].columns = columns;
    grid.maps[0].values.assign(static_cast<std::size_t>(2 * columns), 0.5);
    grid.maps[0].subtitle = "of the map alone";
    grid.subtitle = "layer 1";
    return words(render(grid, 150, 1), Role::subtitle);
  };
  CHECK(subtitle(128) == Names{"layer 1"});
  const Names pooled = subtitle(129);
  REQUIRE(!pooled.empty());
  CHECK(pooled[0].starts_with("layer 1 · 2 × 129 values"));
}

TEST_CASE("the common range leaves out what is masked in any map", "[phase3][plot]") {
  HeatmapGrid grid;
  grid.maps = {map_of({0.25, 0, 0, 0.5}), map_of({9, 0, 0, 0}), map_of({0, 0, 0, 0})};
  for (Heatmap& map : grid.maps) map.low = map.high = {};
  grid.maps[1].masked = {true, false, false, false};
  const Canvas canvas = render(grid, 60, 1);
  const std::vector<Colour> colours = all<Cells>(canvas).at(0).colours;
  CHECK(colours.at(0) == colour_at(ColourMap::viridis, 0.5));
  CHECK(colours.at(3) == colour_at(ColourMap::viridis, 1));
}

TEST_CASE("words of a grid are written from cells of 11.5 on, values never", "[phase3][plot]") {
  HeatmapGrid grid;
  grid.columns = 10;
  grid.maps.assign(40, map_of({0.1, 0.2, 0.3, 0.4}));
  const auto written = [&](double side) {
    const Canvas canvas = render(grid, side, 1);
    CHECK(texts(canvas, Role::value).empty());
    return texts(canvas, Role::row_label).size();
  };
  CHECK(written(2 * 11.5) == 2 * 4);
  CHECK(written(2 * 11.5 - 0.1) == 0);
  CHECK(written(100) == 2 * 4);
  const double longest = widest_cut([&](const std::string& label) {
    for (Heatmap& map : grid.maps) map.row_labels[0] = label;
    const Text drawn = texts(render(grid, 30, 1), Role::row_label).at(0);
    return measure_text(drawn.words, drawn.style).width;
  });
  CHECK(longest <= 80);
  CHECK(longest > 79.5);
}

TEST_CASE("beside a grid is a bar as high as its maps, from 90 to 320, or a rim of 2",
          "[phase3][plot]") {
  const auto grid_of = [](std::int64_t columns) {
    HeatmapGrid grid;
    grid.columns = columns;
    grid.maps.assign(4, map_of({0.1, 0.2, 0.3, 0.4}));
    for (Heatmap& map : grid.maps) {
      map.row_axis = map.column_axis = "";
      map.row_labels.clear();
      map.column_labels.clear();
    }
    return grid;
  };
  const auto bar = [&](std::int64_t columns, double side) {
    return all<Cells>(render(grid_of(columns), side, 1)).back().area.height;
  };
  CHECK(bar(4, 60) == 90);
  CHECK(bar(4, 250) == 250);
  CHECK(bar(1, 100) == 320);
  CHECK(render(grid_of(4), 60, 1).height() == 2 * 24 + 18 + 90 + 56);
  HeatmapGrid without = grid_of(4);
  for (Heatmap& map : without.maps) map.colour_bar = false;
  const Canvas canvas = render(without, 90, 1);
  CHECK(canvas.width() == 2 * 24 + 4 * 90 + 3 * 14 + 2);
  CHECK(canvas.height() == 2 * 24 + 18 + 90);
  CHECK(all<Cells>(canvas).at(3).area.right() == canvas.width() - 24 - 2);
}

TEST_CASE("a grid says what does not fit together", "[phase3][plot]") {
  const auto words = [](const HeatmapGrid& grid) { return words_of_error([&] { render(grid); }); };
  HeatmapGrid grid;
  CHECK(contains(words(grid), "0 maps in 1 columns show nothing"));
  grid.maps = {map_of({0, 0, 0, 0}), map_of({0, 0, 0, 1})};
  grid.columns = 0;
  CHECK(contains(words(grid), "2 maps in 0 columns show nothing"));
  grid.columns = 2;
  grid.maps[1].colours = ColourMap::blues;
  CHECK(contains(words(grid), "map 1 has another colour map than map 0"));
  grid.maps[1] = map_of({0, 0, 0});
  CHECK(contains(words(grid), "need 4 values, but 3 were given"));
  grid.maps.pop_back();
  Canvas canvas(100, 40, 1);
  CHECK(contains(words_of_error([&] { draw(canvas, canvas.area(), grid); }), "too small"));
}

}  // namespace
}  // namespace tapestry::plot
