// What of a line chart is inside its plot.
#include <limits>

#include "catch.hpp"
#include "plot/words.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry::plot {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Colour red{200, 0, 0};

std::vector<FilledCircle> dots(const Canvas& canvas) {
  std::vector<FilledCircle> found = all<FilledCircle>(canvas);
  std::erase_if(found, [](const FilledCircle& dot) { return dot.colour != red; });
  return found;
}

// A dot at each of two corners of the plot.
LineChart corners_of_plot() {
  LineChart chart;
  chart.x_axis = chart.y_axis = {"", false, 0, 10};
  chart.series = {{"", {0, 10}, {0, 10}}};
  chart.series[0].markers = true;
  chart.series[0].colour = red;
  return chart;
}

TEST_CASE("the axes of a chart hold its annotations and reference lines", "[phase0][plot]") {
  LineChart chart;
  chart.annotations = {{3, 7, "first"}, {5, 90, "second"}};
  CHECK(words(render(chart), Role::note) == Names{"first", "second"});
  chart.series = {{"", {0, 1}, {1, 2}}};
  CHECK(words(render(chart), Role::note) == Names{"first", "second"});
  chart.annotations.clear();
  chart.reference_lines = {{30, "", red}};
  std::vector<Polyline> lines = all<Polyline>(render(chart));
  std::erase_if(lines, [](const Polyline& line) { return line.stroke.colour != red; });
  CHECK(lines.size() == 1);
}

TEST_CASE("numbers of a chart have 34 units upwards and 62 across, or they are fewer",
          "[phase0][plot]") {
  LineChart chart = corners_of_plot();
  chart.y_axis.high = 2.5;
  const auto numbers = [&](double height) {
    return words(render(chart, 300, height, 1), Role::y_tick).size();
  };
  CHECK(numbers(2 * 24 + 4 * 34 + 24 - 1) == 3);
  CHECK(numbers(2 * 24 + 4 * 34 + 24) == 6);
  chart = corners_of_plot();
  for (double width = 200;; ++width) {
    const Canvas canvas = render(chart, width, 200, 1);
    if (texts(canvas, Role::x_tick).size() == 3) continue;
    CHECK(dots(canvas).at(1).centre.x - dots(canvas).at(0).centre.x == 3 * 62);
    break;
  }
}

// How many points of a series keep an annotation away from a place that they lie in. It stands at
// the upper left corner of the plot, so it has places to the lower right alone; in the next one are
// as many other points as it takes to keep it in the first.
std::size_t points_in_the_way(const std::vector<Point>& series, bool line = true) {
  LineChart chart = corners_of_plot();
  const Canvas empty = render(chart);
  const Point low = dots(empty).at(0).centre, high = dots(empty).at(1).centre;
  const auto add = [&](Series& to, Point p) {  // p from the corner, in units
    to.x.push_back(10 * p.x / (high.x - low.x));
    to.y.push_back(10 - 10 * p.y / (low.y - high.y));
  };
  const double width = measure_text("a rather long note", {10.5}).width + 4;
  chart.annotations = {{0, 10, "a rather long note", false}};
  chart.series.resize(3);
  chart.series[1].line = line;
  for (const Point p : series) add(chart.series[1], p);
  chart.series[0] = chart.series[2];
  chart.series[2].line = false;
  for (const double away : {44.0, 64.0, 88.0, 116.0}) {
    for (int k = 0; k < 50; ++k) add(chart.series[2], {away + width / 2, away});
  }
  for (std::size_t others = 0; others < 40; ++others) {
    const Text note = texts(render(chart), Role::note).at(0);
    if (note.at.y - high.y < 20) return others;
    add(chart.series[2], {28 + width / 2, 30});
  }
  return 40;
}

TEST_CASE("annotations keep away from points, and from lines every 5 units", "[phase0][plot]") {
  const Point in{30, 15}, gap{none, none}, out{300, 200};
  CHECK(points_in_the_way({in, gap, out}) == 1);
  CHECK(points_in_the_way({gap, in, gap}) == 1);
  CHECK(points_in_the_way({out, in}, false) == 1);
  CHECK(points_in_the_way({{20, 15}, {60, 15}}, false) == 2);
  CHECK(points_in_the_way({gap, {20, 15}, {60, 15}}) == 9);
  CHECK(points_in_the_way({{60, 15}, {20, 15}}) == 9);
  CHECK(points_in_the_way({{20, 15}, {60, 15}, gap, out}) == 9);
  // Of a line of 6000 units in a thousand pieces, from 20 to the end of the text.
  const double end = 16 + measure_text("a rather long note", {10.5}).width + 4 + 1;
  CHECK(points_in_the_way({{20, 15}, {6020, 15}}) == 1 + std::size_t((end - 20) / 6));
}

TEST_CASE("a point between two gaps, or a gap and an end, is a dot", "[phase0][plot]") {
  LineChart chart;
  chart.x_axis = chart.y_axis = {"", false, 0, 10};
  chart.series = {{"", {0, 1, 2, 3, 4, 5, 6, 7, 10}, {1, none, 2, 3, none, 4, infinity, none, 9}}};
  chart.series[0].colour = red;
  const std::vector<FilledCircle> lonely = dots(render(chart));
  REQUIRE(lonely.size() == 3);
  const double width = lonely[2].centre.x - lonely[0].centre.x;
  CHECK((lonely[1].centre.x - lonely[0].centre.x) / width == Approx(0.5));
}

TEST_CASE("lines may leave the plot by 2 units, dots by 6", "[phase0][plot]") {
  const Canvas canvas = render(corners_of_plot());
  const Point low = dots(canvas).at(0).centre, high = dots(canvas).at(1).centre;
  const Rect plot{low.x, high.y, high.x - low.x, low.y - high.y};
  std::size_t found = 0;
  for (const Element& element : canvas.elements()) {
    if (const auto* line = std::get_if<Polyline>(&element.what);
        line != nullptr && line->stroke.colour == red) {
      CHECK(element.clip == plot.inset(-2));
      ++found;
    }
    if (std::holds_alternative<FilledCircle>(element.what)) {
      CHECK(element.clip == plot.inset(-6));
      ++found;
    }
  }
  CHECK(found == 5);
}

TEST_CASE("a line that ends half a unit beside the plot has its name there", "[phase6][plot]") {
  const LineChart corners = corners_of_plot();
  const Canvas before = render(corners);
  const double height = dots(before).at(0).centre.y - dots(before).at(1).centre.y;
  for (const double beside : {0.4, 0.6}) {
    for (const bool above : {false, true}) {
      LineChart chart = corners;
      chart.end_labels = true;
      chart.series[0].name = "name";
      chart.series[0].y[1] = above ? 10 + 10 * beside / height : -10 * beside / height;
      CHECK(texts(render(chart), Role::legend).size() == (beside < 0.5 ? 1u : 0u));
    }
  }
}

}  // namespace
}  // namespace tapestry::plot
