#include "tapestry/plot/dot_plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Colour red{200, 0, 0}, green{0, 150, 0};

std::vector<FilledCircle> dots(const Canvas& canvas, Colour colour) {
  std::vector<FilledCircle> found = all<FilledCircle>(canvas);
  std::erase_if(found, [&](const FilledCircle& dot) { return dot.colour != colour; });
  return found;
}

// The straight lines of a colour: means, whiskers and their ends, shafts of arrows.
std::vector<Polyline> lines(const Canvas& canvas, Colour colour, double width) {
  std::vector<Polyline> found = all<Polyline>(canvas);
  std::erase_if(found, [&](const Polyline& line) {
    return line.points.size() != 2 || line.stroke.colour != colour || line.stroke.width != width;
  });
  return found;
}
std::vector<Polyline> means(const Canvas& canvas, Colour colour) {
  return lines(canvas, colour, 2.6);
}
std::vector<Polyline> whiskers(const Canvas& canvas, Colour colour) {
  return lines(canvas, colour, 1.4);
}

Point centre(const Polyline& line) { return between(line.points[0], line.points[1], 0.5); }

DotPlot one_series(std::vector<Runs> groups) {
  DotPlot chart;
  for (std::size_t i = 0; i < groups.size(); ++i) chart.labels.push_back(std::to_string(i));
  chart.series = {{"", std::move(groups), red}};
  chart.value_axis = {"loss", false, 0, 10};
  return chart;
}

// The coordinate of values, growing with them, and the one across.
double along(Point p, bool rows) { return rows ? p.x : -p.y; }
double across(Point p, bool rows) { return rows ? p.y : p.x; }

TEST_CASE("every run is a dot at its value, above or beside its label", "[phase5][plot]") {
  for (const bool rows : {false, true}) {
    for (const bool log : {false, true}) {
      DotPlot chart = one_series({{{1, 10, 100}}, {}, {{1}}});
      chart.value_axis = {"loss", log, 1, 100};
      chart.rows = rows;
      const Canvas canvas = render(chart);
      const std::vector<FilledCircle> found = dots(canvas, red);
      REQUIRE(found.size() == 4);
      const double low = along(found[0].centre, rows), high = along(found[2].centre, rows);
      CAPTURE(rows, log);
      CHECK(high > low + 150);
      const double share = log ? 0.5 : 9.0 / 99;
      CHECK(std::abs(along(found[1].centre, rows) - (low + share * (high - low))) < 1e-9);
      CHECK(std::abs(along(found[3].centre, rows) - low) < 1e-9);
      std::vector<Text> labels = texts(canvas, rows ? Role::y_tick : Role::x_tick);
      REQUIRE(labels.size() == 3);
      if (rows) std::reverse(labels.begin(), labels.end());  // drawn from below
      CHECK(labels[0].words == "0");
      CHECK(std::abs(across(middle(labels[0]), rows) - across(found[0].centre, rows)) < 15);
      CHECK(std::abs(across(middle(labels[2]), rows) - across(found[3].centre, rows)) < 15);
    }
  }
}

TEST_CASE("a bar stands at the mean, whiskers at the ends of its interval", "[phase5][plot]") {
  for (const bool rows : {false, true}) {
    DotPlot chart = one_series({{{4, 5, 6}}, {{0}}, {{10, 10}}});
    chart.rows = rows;
    const Canvas canvas = render(chart);
    const std::vector<FilledCircle> found = dots(canvas, red);
    const double zero = along(found[3].centre, rows), ten = along(found[4].centre, rows);
    const auto value = [&](Point p) { return 10 * (along(p, rows) - zero) / (ten - zero); };
    const std::vector<Polyline> bars = means(canvas, red), ends = whiskers(canvas, red);
    REQUIRE(bars.size() == 3);  // also of one run and of two
    REQUIRE(ends.size() == 3);  // one line with two ends
    const MeanInterval expected = mean_interval(std::vector<double>{4, 5, 6});
    CHECK(value(centre(bars[0])) == Approx(5));
    CHECK(value(centre(bars[1])) == Approx(0).margin(1e-9));
    CHECK(value(ends[0].points[0]) == Approx(expected.low));
    CHECK(value(ends[0].points[1]) == Approx(expected.high));
    CHECK(value(centre(ends[1])) == Approx(expected.low));
    CHECK(value(centre(ends[2])) == Approx(expected.high));
    // Beside the dots, which it does not touch.
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(across(bars[0].points[0], rows) > across(found[i].centre, rows) + found[i].radius + 1);
    }
  }
}

TEST_CASE("dots that nearly cover each other move apart, in whatever order", "[phase5][plot]") {
  for (const std::vector<double>& values : {std::vector<double>{5.05, 5}, {5, 5.05}}) {
    const std::vector<FilledCircle> found = dots(render(one_series({{values}})), red);
    REQUIRE(found.size() == 2);
    const Point between_them = found[0].centre - found[1].centre;
    CHECK(std::hypot(between_them.x, between_them.y) == Approx(2 * found[0].radius + 1));
    CHECK((between_them.y < 0) == (values[0] > values[1]));
  }
}

TEST_CASE("equal runs stand side by side, with a bar and no gap in it", "[phase5][plot]") {
  const Canvas canvas = render(one_series({{{5, 5, 5, 5, 5}}}));
  const std::vector<FilledCircle> found = dots(canvas, red);
  REQUIRE(found.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(found[i].centre.y == found[0].centre.y);
    for (std::size_t k = 0; k < i; ++k) {
      CHECK(std::abs(found[i].centre.x - found[k].centre.x) > 2 * found[i].radius);
    }
  }
  REQUIRE(means(canvas, red).size() == 1);
  CHECK(centre(means(canvas, red)[0]).y == Approx(found[0].centre.y));
  for (const Polyline& end : whiskers(canvas, red)) {
    CHECK(centre(end).y == Approx(found[0].centre.y));
  }
}

TEST_CASE("many dots become smaller, and stay in their lane", "[phase5][plot]") {
  DotPlot chart = one_series({{std::vector<double>(12, 5)}, {{5}}});
  chart.series.push_back({"", chart.series[0].groups, green});
  for (const double width : {720.0, 260.0}) {
    const Canvas canvas = render(chart, width);
    const std::vector<FilledCircle> first = dots(canvas, red), second = dots(canvas, green);
    REQUIRE(first.size() == 13);
    CHECK(first[0].radius == first[12].radius);
    CHECK(first[0].radius < 3.6);
    const auto by_x = [](const FilledCircle& a, const FilledCircle& b) {
      return a.centre.x < b.centre.x;
    };
    const double last = std::max_element(first.begin(), first.end() - 1, by_x)->centre.x;
    const double bar = means(canvas, red)[0].points[1].x;
    const double next = std::min_element(second.begin(), second.end() - 1, by_x)->centre.x;
    CAPTURE(width);
    CHECK(last < means(canvas, red)[0].points[0].x);
    CHECK(bar < next - second[0].radius);
  }
}

TEST_CASE("a censored run is a hollow dot with an arrow, and leaves no mean", "[phase5][plot]") {
  for (const bool rows : {false, true}) {
    DotPlot chart = one_series({{{4, 5, 5}, {10, 10}}, {{4, 5, 5}}});
    chart.rows = rows;
    const Canvas canvas = render(chart);
    CAPTURE(rows);
    CHECK(dots(canvas, red).size() == 6);
    CHECK(means(canvas, red).size() == 1);  // of the other group
    const std::vector<FilledPolygon> heads = all<FilledPolygon>(canvas);
    REQUIRE(heads.size() == 2);
    std::vector<Polyline> rings = all<Polyline>(canvas);
    std::erase_if(rings, [](const Polyline& line) {
      return line.points.size() < 8 || line.stroke.colour != red;
    });
    REQUIRE(rings.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      const Point tip = heads[i].points[0], ring = rings[i].points[0];
      CHECK(along(tip, rows) > along(ring, rows) + 8);
      CHECK(std::abs(across(tip, rows) - across(ring, rows)) < 4);
      CHECK(canvas.area().inset(1).contains(tip));  // the limit is the end of the axis
    }
    CHECK(has_clean_border(decode_png(canvas)));
    const Names legend = words(canvas, Role::legend);
    CHECK(legend == Names{"mean, 95 % interval", "not reached"});
  }
}

TEST_CASE("runs without a place on the axis are written beside it", "[phase5][plot]") {
  DotPlot chart = one_series({{{nan, 5, nan, infinity}}, {{-infinity, 12}, {30}}, {{5, 6}}});
  Canvas canvas = render(chart);
  CHECK(words(canvas, Role::note) == Names{"NaN ×2", "∞", "−∞", "12", "> 30"});
  CHECK(dots(canvas, red).size() == 3);
  CHECK(means(canvas, red).size() == 1);
  const std::vector<Text> notes = texts(canvas, Role::note);
  const std::vector<Text> labels = texts(canvas, Role::x_tick);
  CHECK(middle(notes[0]).x == Approx(middle(labels[0]).x));
  CHECK(middle(notes[4]).x == Approx(middle(labels[1]).x));
  CHECK(bounds(notes[4]).bottom() < bounds(labels[1]).y);
  chart.rows = true;
  CHECK(words(render(chart), Role::note) == Names{"NaN ×2, ∞", "−∞, 12, > 30"});
  chart.series[0].groups[1] = {{0, -0.5, 5}, {}};
  chart.value_axis = {"loss", true, 1, 10};
  CHECK(words(render(chart), Role::note) == Names{"NaN ×2, ∞", "0, −0.50"});
  chart.series[0].groups[1] = {{20, 0, 21, 22, 23, 22}, {}};
  CHECK(words(render(chart), Role::note) == Names{"NaN ×2, ∞", "20, 0, 21, 3 more"});
}

TEST_CASE("an axis holds all dots and whiskers", "[phase5][plot]") {
  DotPlot chart = one_series({{{40, 50, 60}}, {{30}}});
  chart.value_axis = {};
  const auto inside = [&](const Polyline& line) {
    const Canvas canvas = render(chart);
    double top = infinity, bottom = 0;
    for (const Polyline& grid : lines(canvas, theme::grid, 1)) {
      top = std::min(top, grid.points[0].y);
      bottom = std::max(bottom, grid.points[0].y);
    }
    return centre(line).y >= top && centre(line).y <= bottom;
  };
  const std::vector<Polyline> found = whiskers(render(chart), red);
  REQUIRE(found.size() == 3);
  CHECK(inside(found[1]));
  CHECK(inside(found[2]));
  chart.series[0].groups = {{{1, 1, 21}}, {}};
  chart.value_axis.log = true;  // where the lower end has no place
  CHECK(whiskers(render(chart), red).size() == 3);
  CHECK(has_clean_border(decode_png(render(chart))));
}

TEST_CASE("reference lines cross the axis of values", "[phase5][plot]") {
  for (const bool rows : {false, true}) {
    DotPlot chart = one_series({{{0, 10}}});
    chart.rows = rows;
    chart.reference_lines = {{5, "chance", green}};
    const Canvas canvas = render(chart);
    const std::vector<Polyline> found = lines(canvas, green, 1.5);
    REQUIRE(found.size() == 1);
    const std::vector<FilledCircle> ends = dots(canvas, red);
    for (const Point p : found[0].points) {
      const double mean = along(between(ends[0].centre, ends[1].centre, 0.5), rows);
      CHECK(std::abs(along(p, rows) - mean) < 1e-9);
    }
    CHECK(words(canvas, Role::legend) == Names{"mean", "chance"});
  }
}

TEST_CASE("the legend shows the marks that are in the plot", "[phase5][plot]") {
  DotPlot chart = one_series({{{1, 2, 2}}});
  chart.series[0].name = "plain";
  chart.reference_lines = {{5, "", green}};
  const auto rings = [](const Canvas& canvas) {
    std::vector<Polyline> found = all<Polyline>(canvas);
    std::erase_if(found, [](const Polyline& line) {
      return line.points.size() == 2 || line.stroke.colour != theme::accent;
    });
    return found.size();
  };
  Canvas canvas = render(chart);
  CHECK(words(canvas, Role::legend) == Names{"plain", "mean, 95 % interval"});
  CHECK(means(canvas, theme::accent).size() == 1);
  CHECK(whiskers(canvas, theme::accent).size() == 3);
  CHECK(rings(canvas) == 0);
  chart.series[0].groups = {{{1, 2}}};
  canvas = render(chart);
  CHECK(words(canvas, Role::legend) == Names{"plain", "mean"});
  CHECK(lines(canvas, theme::accent, 2.2).size() == 1);
  CHECK(whiskers(canvas, theme::accent).empty());
  chart.series[0].groups = {{{1}, {3}}};
  chart.censored_name = "not reached in 3 steps";
  canvas = render(chart);
  CHECK(words(canvas, Role::legend) == Names{"plain", "not reached in 3 steps"});
  CHECK(means(canvas, theme::accent).empty());
  CHECK(rings(canvas) == 1);
  chart.series[0].name = chart.censored_name = "";
  CHECK(words(render(chart), Role::legend).empty());
}

TEST_CASE("a dot plot says what does not fit together", "[phase5][plot]") {
  const auto said = [](const DotPlot& chart, double width = 720) {
    return words_of_error([&] { render(chart, width); });
  };
  CHECK(contains(said({}), "dot plot: there is nothing to draw; give at least one label"));
  DotPlot chart = one_series({{{1}}, {{2}}});
  chart.labels.push_back("c");
  CHECK(contains(said(chart), "series \"\" has 2 groups of runs for 3 labels"));
  chart = one_series({{{1}, {nan}}});
  CHECK(contains(said(chart), "a run at \"0\" that was censored where its axis has no place"));
  CHECK(contains(said(chart), "give the limit, a finite number"));
  chart = one_series({{{1}, {0}}});
  chart.value_axis = {"", true};
  CHECK(contains(said(chart), "give the limit, a positive number"));
  chart = one_series({{}, {}});
  CHECK(said(chart) == "");  // the range is given
  chart.value_axis = {"loss"};
  CHECK(contains(said(chart), "dot plot: axis \"loss\" has no finite value to show"));
  CHECK(contains(said(one_series({{{1}}}), 60), "the area is too small"));
}

}  // namespace
}  // namespace tapestry::plot
