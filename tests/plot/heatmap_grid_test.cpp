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
