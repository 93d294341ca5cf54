// The smallest areas that pictures can be drawn in.
#include <algorithm>
#include <cmath>
#include <string>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

// The least width, or height, of an area that is large otherwise.
template <class Picture>
double least(const Picture& picture, bool width) {
  for (double side = 1; side < 400; side += 0.5) {
    Canvas canvas(400, 400, 1);
    const Rect area{0, 0, width ? side : 400, width ? 400 : side};
    const std::string error = words_of_error([&] { draw(canvas, area, picture); });
    if (error.empty()) return side;
    CHECK(contains(error, "the area "));
  }
  return 0;
}

template <class Picture>
Canvas smallest(const Picture& picture, bool width) {
  Canvas canvas(400, 400, 1);
  const double side = least(picture, width);
  draw(canvas, {0, 0, width ? side : 400, width ? 400 : side}, picture);
  return canvas;
}

TEST_CASE("the plot of a line chart is 20 wide and high at least", "[phase0][plot]") {
  LineChart chart;
  chart.x_axis = chart.y_axis = {"", false, 0, 1};
  chart.series = {{"", {0, 1}, {0, 1}}};
  for (const bool width : {false, true}) {
    std::vector<Polyline> lines = all<Polyline>(smallest(chart, width));
    std::erase_if(lines,
                  [](const Polyline& line) { return line.stroke.colour != series_colour(0); });
    REQUIRE(lines.size() == 1);  // from corner to corner
    const Point across = lines[0].points[1] - lines[0].points[0];
    CHECK((width ? across.x : -across.y) == 20);
  }
}

TEST_CASE("the plot of a bar chart is 20 wide and high at least", "[phase0][plot]") {
  BarChart chart;
  chart.labels = {"a"};
  chart.series = {{"", {1}}};
  chart.y_axis = {"", false, 0, 1};
  chart.print_values = false;
  for (const bool width : {false, true}) {
    const Canvas canvas = smallest(chart, width);
    if (!width) CHECK(all<FilledRect>(canvas).at(0).rect.height == 20);
    for (const Polyline& line : all<Polyline>(canvas)) {
      if (width) CHECK(line.points[1].x - line.points[0].x == 20);
    }
  }
}

TEST_CASE("the plot of dots is 20 wide and high at least", "[phase5][plot]") {
  DotPlot chart;
  chart.labels = {"a"};
  chart.series = {{"", {{{0, 1}}}}};
  chart.interval_name = "";
  chart.value_axis = {"", false, 0, 1};
  for (const bool width : {false, true}) {
    for (const bool rows : {false, true}) {
      chart.rows = rows;
      const Canvas canvas = smallest(chart, width);
      if (width == rows) {  // along the axis of values
        const std::vector<FilledCircle> dots = all<FilledCircle>(canvas);
        const Point gap = dots.at(3).centre - dots.at(1).centre;
        CHECK((rows ? gap.x : -gap.y) == 20);
      } else {
        double longest = 0;
        for (const Polyline& line : all<Polyline>(canvas)) {
          const Point gap = line.points.back() - line.points.front();
          if (line.stroke.width == 1) longest = std::max(longest, std::abs(rows ? gap.y : gap.x));
        }
        CHECK(longest == 20);
      }
    }
  }
}

Heatmap bare(std::int64_t rows, std::int64_t columns) {
  Heatmap map;
  map.rows = rows;
  map.columns = columns;
  map.values.assign(static_cast<std::size_t>(rows * columns), 0.5);
  map.row_axis = map.column_axis = "";
  map.colour_bar = false;
  return map;
}

TEST_CASE("a heatmap needs some room for its cells, however little", "[phase1][plot]") {
  const double left = measure_text("0", {13}).width + 9;
  for (const double more : {0.0, 0.5}) {
    Canvas canvas(400, 400, 1);
    const auto draws = [&](Rect area) {
      return words_of_error([&] { draw(canvas, area, bare(1, 1)); }).empty();
    };
    CHECK(draws({0, 0, left + 2 + more, 400}) == (more > 0));
    CHECK(draws({0, 0, 400, 24 + more}) == (more > 0));
  }
}

TEST_CASE("a heatmap whose cells would have no pixel is refused", "[phase1][plot]") {
  const Heatmap map = bare(4, 4);
  const double left = measure_text("3", {13}).width + 9;
  for (const double scale : {1.0, 2.0}) {
    Canvas canvas(400, 400, scale);
    const auto said = [&](Rect area) { return words_of_error([&] { draw(canvas, area, map); }); };
    for (const double little : {-0.05, 0.0, 0.05}) {
      CHECK(said({10, 10, 300, 24 + little}) ==
            "heatmap: the area is too small for the labels; give it more room or leave out "
            "labels, axis names or the colour bar");
      CHECK(contains(said({10, 10, left + 2 + little, 300}), "area is too small"));
    }
    CHECK(canvas.elements().empty());
    CHECK(said({10, 10, 300, 24 + 1 / scale}) == "");
    CHECK(said({10, 10, left + 2 + 1 / scale, 300}) == "");
  }
}

TEST_CASE("a map of a grid is 16 long and 1 deep at least", "[phase3][plot]") {
  HeatmapGrid grid;
  grid.maps = {bare(2, 2)};
  CHECK(least(grid, true) == 16 + 2);
  CHECK(least(grid, false) == 18 + 16);
  grid.maps = {bare(1, 60)};  // a cell is as high as two are wide
  CHECK(least(grid, true) == 30 + 2);
}

TEST_CASE("a flow has room of 90 for its links, and of 11 for each word", "[phase3][plot]") {
  const Flow flow{{"a", "b"}, {"a", "b"}, {1, 0, 0, 1}, 0.15};
  CHECK(least(flow, true) == 50 + 90 + 50);
  CHECK(least(flow, false) == 26 + 2 * 11 + 8 + 30 + 16);
}

TEST_CASE("a diagram of no size is refused", "[phase1][plot]") {
  Diagram one;
  one.add({"alone"});
  Canvas canvas(400, 400, 1);
  for (const double more : {0.0, 0.5}) {
    const std::string error = words_of_error([&] { draw(canvas, {0, 0, 2 + more, 100}, one); });
    CHECK(error.empty() == (more > 0));
  }
}

}  // namespace
}  // namespace tapestry::plot
