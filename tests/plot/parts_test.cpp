// The parts that charts are made of, where no picture would show every case.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "plot/end_labels.hpp"
#include "plot/frame.hpp"
#include "plot/heatmap_layout.hpp"
#include "plot/outlines.hpp"
#include "plot/raster.hpp"
#include "plot/typeface.hpp"
#include "plot/utf8.hpp"
#include "plot/words.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/random.hpp"

namespace tapestry::plot {
namespace {

Heatmap square(std::int64_t n) {
  Heatmap map;
  map.rows = map.columns = n;
  map.values.assign(static_cast<std::size_t>(n * n), 0.5);
  return map;
}

TEST_CASE("blanks at both ends of a label are shown", "[phase0][plot]") {
  CHECK(visible(" a b  ") == "␣a b␣␣");
  CHECK(visible("  ") == "␣␣");
  CHECK(visible("a") == "a");
  CHECK(visible("").empty());
  CHECK(visible("\x1F!\xC2\x80~\xC2\x9F\xC2\xA0") == "·!·~·\xC2\xA0");
  CHECK(visible("a\tb\nc\x7F") == "a⇥b↵c·");
}

TEST_CASE("names at the ends of lines are moved apart, no further than needed", "[phase6][plot]") {
  using Places = std::vector<double>;
  CHECK(apart({30, 10, 80}, 15, 0, 100) == Places{30, 10, 80});
  CHECK(apart({50, 50}, 10, 0, 100) == Places{45, 55});
  CHECK(apart({52, 48, 80}, 10, 0, 100) == Places{55, 45, 80});
  CHECK(apart({50, 50, 62}, 10, 0, 100) == Places{44, 54, 64});  // by 6, 4 and 2
  CHECK(apart({99, 100}, 10, 0, 100) == Places{90, 100});
  CHECK(apart({1, 0, 3}, 10, 0, 100) == Places{10, 0, 20});
  CHECK(apart({5, 5, 5}, 10, 0, 15) == Places{0, 10, 20});  // more than there is room for
  CHECK(apart({}, 10, 0, 100).empty());
}

TEST_CASE("cells of larger heatmaps are smaller", "[phase0][plot]") {
  const std::vector<std::pair<int, double>> sizes{{1, 62},  {8, 62},  {9, 46},  {16, 46},
                                                  {17, 36}, {24, 36}, {25, 26}, {40, 26},
                                                  {44, 20}, {80, 11}, {880, 1}, {1000, 1}};
  for (const auto& [n, side] : sizes) {
    CAPTURE(n);
    CHECK(comfortable_cells(square(n)).width == side);
  }
}

TEST_CASE("of many labels every 2nd, 5th, 10th ... is written", "[phase0][plot]") {
  const std::vector<std::pair<double, std::int64_t>> strides{
      {0.5, 1}, {1, 1}, {1.5, 2}, {3, 5}, {6, 10}, {11, 20}, {21, 50}, {51, 100}, {101, 200}};
  for (const auto& [needed, stride] : strides) CHECK(label_stride(1, needed) == stride);
}

TEST_CASE("from 1,025 rows or columns on, blocks are averaged", "[phase0][plot]") {
  Heatmap map;
  map.columns = 2;
  for (const auto& [rows, block] : {std::pair{1024, 1}, {1025, 2}, {2048, 2}, {2049, 3}}) {
    map.rows = rows;
    map.values.assign(static_cast<std::size_t>(2 * rows), 1);
    CHECK(pooled(map).row_block == block);
    CHECK(pooled(map).column_block == 1);
  }
}

TEST_CASE("labels of a heatmap are cut where they become wider than 150", "[phase0][plot]") {
  PooledHeatmap map{square(1)};
  const double longest = widest_cut([&](const std::string& label) {
    map.row_labels = {label};
    return measure_text(layout_for(map, any_width).row_labels[0], label_style()).width;
  });
  CHECK(longest <= 150);
  CHECK(longest > 149.5);
}

TEST_CASE("cells for NaN are hatched from 6 units on", "[phase0][plot]") {
  const auto hatched = [](double width, double height) {
    Heatmap map = square(1);
    map.values[0] = std::numeric_limits<double>::quiet_NaN();
    Canvas canvas(20, 20, 1);
    draw_cells(canvas, {5, 5, width, height}, map, {0, 1});
    int other = 0;
    for (int row = 6; row < 4 + height; ++row) {
      for (int column = 6; column < 4 + width; ++column) {
        other += canvas.pixel(column, row) == theme::missing ? 0 : 1;
      }
    }
    return other > 0;
  };
  CHECK(hatched(6, 9));
  CHECK(hatched(9, 6));
  CHECK_FALSE(hatched(5, 9));
  CHECK_FALSE(hatched(9, 5));
}

TEST_CASE("values are printed from a size of 7.5 on, in maps of 64 rows or columns at most",
          "[phase0][plot]") {
  const double height = 7.5 / 0.7;
  REQUIRE(0.7 * height == 7.5);
  const auto printed = [](std::int64_t columns, double cell_height) {
    Heatmap map;
    map.rows = 1;
    map.columns = columns;
    map.values.assign(static_cast<std::size_t>(columns), 0.5);
    Canvas canvas(4000, 60, 1);
    draw_cells(canvas, {5, 5, 60.0 * double(columns), cell_height}, map, {0, 1});
    return texts(canvas, Role::value).size();
  };
  CHECK(printed(1, height) == 1);
  CHECK(printed(1, height - 0.01) == 0);
  CHECK(printed(64, 40) == 64);
  CHECK(printed(65, 40) == 0);
}

TEST_CASE("values that are asked for are printed in the smallest cell", "[phase0][plot]") {
  Heatmap map = square(1);
  map.print = PrintValues::always;
  Canvas canvas(30, 30, 1);
  draw_cells(canvas, {5, 5, 10, 1.3}, map, {0, 1});
  REQUIRE(texts(canvas, Role::value).size() == 1);
  CHECK(texts(canvas, Role::value)[0].style.size == Approx(0.7 * 1.3));
}

TEST_CASE("lines between cells begin at 10 units, in masks at 5", "[phase0][plot]") {
  const auto lines = [](ColourMap colours, double width, double height) {
    Heatmap map = square(2);
    map.colours = colours;
    map.print = PrintValues::never;
    Canvas canvas(50, 50, 1);
    draw_cells(canvas, {5, 5, 2 * width, 2 * height}, map, {0, 1});
    return all<FilledRect>(canvas).size();
  };
  for (const auto& [colours, side] : {std::pair{ColourMap::greys, 5}, {ColourMap::blues, 10}}) {
    CHECK(lines(colours, side, 20) == 2);
    CHECK(lines(colours, 20, side) == 2);
    CHECK(lines(colours, side - 0.5, 20) == 0);
    CHECK(lines(colours, 20, side - 0.5) == 0);
  }
}

TEST_CASE("the name of a colour bar may be longer than its bar by 40, or 120", "[phase0][plot]") {
  for (const auto& [height, room] : {std::pair{50.0, 120.0}, {100.0, 140.0}}) {
    const double longest = widest_cut([&, length = height](const std::string& name) {
      Canvas canvas(200, 200, 1);
      draw_colour_bar(canvas, {20, 20, 0, length}, ColourMap::viridis, 0, 1, name);
      return measure_text(words(canvas, Role::scale).at(0), {type::subtitle}).width;
    });
    CHECK(longest <= room);
    CHECK(longest > room - 0.5);
  }
}

TEST_CASE("a colour bar has numbers for about five steps, a short one for three",
          "[phase0][plot]") {
  const auto numbers = [](double height, double high) {
    Canvas canvas(200, 200, 1);
    draw_colour_bar(canvas, {20, 20, 0, height}, ColourMap::viridis, 0, high, "");
    return words(canvas, Role::scale_tick);
  };
  CHECK(numbers(119, 12) == Names{"0", "5", "10"});
  CHECK(numbers(119, 18) == Names{"0", "5", "10", "15"});
  CHECK(numbers(120, 8) == Names{"0", "2", "4", "6", "8"});
  CHECK(numbers(120, 12) == Names{"0", "2", "4", "6", "8", "10", "12"});
  CHECK(numbers(120, 16).size() == 9);  // in steps of 2
}

TEST_CASE("an entry of a legend may end at the rim", "[phase0][plot]") {
  const double entry = 20 + 7 + measure_text("name", {type::subtitle}).width;
  Canvas canvas(300, 100, 1);
  const auto height = [&](double width) {
    return draw_legend(canvas, {0, 0, width, 100}, {{"name", black}, {"name", black}}).y;
  };
  CHECK(height(entry + 22 + entry) == 20 + 8);
  CHECK(height(entry + 22 + entry - 0.1) == 2 * 20 + 8);
}

TEST_CASE("a circle has as many corners as its size on the screen asks for", "[phase0][plot]") {
  const auto corners = [](double radius, double scale) {
    return circle({3, 4}, radius, scale).size() - 1;  // the first one closes it
  };
  CHECK(corners(0.01, 1) == 12);
  CHECK(corners(1, 1) == 23);
  CHECK(corners(4.5, 2) == 67);
  CHECK(corners(2000, 1) == 720);
  CHECK(rounded({0, 0, 20, 20}, 5, 1).size() == 4 * 14);
  CHECK(rounded({0, 0, 20, 20}, 1, 1).size() == 4 * 7);
  CHECK(rounded({0, 0, 20, 20}, 0, 1).size() == 4);
  for (const Rect& rect : {Rect{0, 0, 10, 30}, Rect{0, 0, 30, 10}}) {
    for (const Point p : rounded(rect, 50, 1)) {  // a corner is at most half as wide as that
      CHECK((p.x > -1e-9 && p.x < rect.width + 1e-9 && p.y > -1e-9 && p.y < rect.height + 1e-9));
    }
  }
}

TEST_CASE("a curve of a letter has as many pieces as the tolerance asks for", "[phase0][plot]") {
  const auto points = [](double tolerance) {
    std::vector<std::size_t> numbers;  // of each contour
    for (const Contour& contour : Font::sans().outline('O', tolerance)) {
      numbers.push_back(contour.size());
    }
    return numbers;
  };
  CHECK(points(1) == std::vector<std::size_t>{1 + 8, 1 + 8});  // eight curves, outside and inside
  CHECK(points(1e-3) == std::vector<std::size_t>{41, 49});
  CHECK(points(2e-4) == std::vector<std::size_t>{89, 104});
  CHECK(points(1e-12) == std::vector<std::size_t>{1 + 8 * 64, 1 + 8 * 64});
}

TEST_CASE("a dash is shorter by the width of its caps, down to a tenth", "[phase0][plot]") {
  CHECK(inked_part(5, 2) == 3);
  CHECK(inked_part(2, 5) == 0.2);
  CHECK(dashes({{0, 0}, {1e5, 0}}, 1, 0).size() == 50'000);
  CHECK(dashes({{0, 0}, {1.5e5, 0}}, 1, 0).empty());
}

TEST_CASE("a box of pixels has no negative size", "[phase0][plot]") {
  const PixelBox box{2, 3, 7, 11};
  CHECK(box.width() == 5);
  CHECK(box.height() == 8);
  CHECK(PixelBox{7, 11, 2, 3}.width() == 0);
  CHECK(PixelBox{7, 11, 2, 3}.height() == 0);
}

// From 0 to 1, falling over one pixel around the edge.
double coverage_of(Point pixel, Point from, Point to, double half_width) {
  const auto distance = [&](double t) {
    const Point p = between(from, to, t);
    return std::hypot(p.x - pixel.x, p.y - pixel.y);
  };
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {  // there is one minimum
    const double left = (2 * low + high) / 3, right = (low + 2 * high) / 3;
    if (distance(left) < distance(right)) {
      high = right;
    } else {
      low = left;
    }
  }
  return std::clamp(half_width + 0.5 - distance(low), 0.0, std::min(1.0, 2 * half_width));
}

TEST_CASE("a line inks each pixel by its distance, and none outside of its mask",
          "[phase0][plot]") {
  CHECK(stroke_mask({{{5, 5}}}, 1.5, {0, 0, 20, 20}).box.left == 3);
  CHECK(stroke_mask({{{5, 5}}}, 1.5, {0, 0, 20, 20}).box.bottom == 7);
  const PixelBox clip{2, 0, 16, 14};
  Random random(1);
  for (int line = 0; line < 40; ++line) {
    const auto place = [&] { return Point{random.uniform() * 30 - 5, random.uniform() * 30 - 5}; };
    const Point from = place(), to = place();
    const double half_width = 0.1 + 3 * random.uniform();
    const Mask mask = stroke_mask({{from, to}}, half_width, clip);
    const PixelBox& box = mask.box;
    double worst = 0;
    for (int y = clip.top; y < clip.bottom; ++y) {
      for (int x = clip.left; x < clip.right; ++x) {
        const bool inside = y >= box.top && y < box.bottom && x >= box.left && x < box.right;
        const int at = (y - box.top) * box.width() + x - box.left;
        const double found = inside ? double{mask.coverage[static_cast<std::size_t>(at)]} : 0;
        const double wanted = coverage_of({x + 0.5, y + 0.5}, from, to, half_width);
        worst = std::max(worst, std::abs(found - wanted));
      }
    }
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("dashes and gaps take turns, round a corner, too", "[phase0][plot]") {
  using Contours = std::vector<Contour>;  // a dash of 3, a gap of 5
  CHECK(dashes({{0, 0}, {16, 0}}, 4, 1) == Contours{{{0, 0}, {3, 0}}, {{8, 0}, {11, 0}}});
  CHECK(dashes({{0, 0}, {2, 0}, {2, 8}}, 4, 1) ==
        Contours{{{0, 0}, {2, 0}}, {{2, 0}, {2, 1}}, {{2, 6}, {2, 8}}});
  CHECK(dashes({{0, 0}, {3, 0}, {3, 8}}, 4, 1) == Contours{{{0, 0}, {3, 0}}, {{3, 5}, {3, 8}}});
  CHECK(dashes({{0, 0}, {8, 0}, {8, 4}}, 4, 1) == Contours{{{0, 0}, {3, 0}}, {{8, 0}, {8, 3}}});
  CHECK(inked_part(4, 3.5) == 0.5);
  CHECK(inked_part(4, 5) == Approx(0.4));
}

TEST_CASE("a line of more than 100,000 dashes and gaps has none", "[phase0][plot]") {
  CHECK(dashes({{0, 0}, {1e5, 0}}, 1, 0.5).size() == 50000);
  CHECK(dashes({{0, 0}, {1.01e5, 0}, {1.01e5, 1}}, 1, 0.5).size() == 1);
}

TEST_CASE("letters and digits behind an underscore are set lower", "[phase0][plot]") {
  TextStyle lowered{100}, plain{100};
  plain.subscripts = false;
  const auto is_lowered = [&](const std::string& text) {
    return measure_text(text, lowered).width < measure_text(text, plain).width - 1;
  };
  for (const char sign : std::string("09AZaz")) CHECK(is_lowered(std::string("x_") + sign));
  for (const char sign : std::string("/:@[`{")) CHECK_FALSE(is_lowered(std::string("x_") + sign));
  for (const char letter : std::string("AZaz")) CHECK(is_lowered(letter + std::string("_k")));
  for (const char sign : std::string("09/:@[`{")) CHECK_FALSE(is_lowered(sign + std::string("_k")));
}

TEST_CASE("an automatic range ends at the values, and at 0 where none is below", "[phase0][plot]") {
  Heatmap map;
  map.colours = ColourMap::viridis;
  map.values = {-5, -6, -7};
  CHECK(range_of(map).low == -7);
  CHECK(range_of(map).high == -5);
  map.values = {5, 6, 7};
  CHECK(range_of(map).low == 0);
  CHECK(range_of(map).high == 7);
}

}  // namespace
}  // namespace tapestry::plot
