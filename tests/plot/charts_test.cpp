#include "tapestry/plot/charts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "plot/axes.hpp"
#include "plot/decoded.hpp"
#include "plot/words.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr Colour red{200, 0, 0}, green{0, 150, 0};

int count(const Decoded& picture, Colour colour) {
  int found = 0;
  for (const Colour c : picture.pixels) found += c == colour ? 1 : 0;
  return found;
}

// The place of the only dot of a colour.
Point place_of(const Canvas& canvas, Colour colour) {
  std::vector<FilledCircle> dots = all<FilledCircle>(canvas);
  std::erase_if(dots, [&](const FilledCircle& found) { return found.colour != colour; });
  REQUIRE(dots.size() == 1);
  return dots[0].centre;
}

// The only line of a colour.
Polyline line_of(const Canvas& canvas, Colour colour) {
  std::vector<Polyline> lines = all<Polyline>(canvas);
  std::erase_if(lines, [&](const Polyline& found) { return found.stroke.colour != colour; });
  REQUIRE(lines.size() == 1);
  return lines[0];
}

// Points only: each series is one dot, so that its place can be measured.
Series dot(double x, double y, Colour colour) {
  Series series{"", {x}, {y}};
  series.line = false;
  series.markers = true;
  series.colour = colour;
  return series;
}

TEST_CASE("points stand where their axes say, linear and logarithmic", "[phase0][plot]") {
  constexpr Colour blue{0, 0, 200};
  for (const bool log : {false, true}) {
    CAPTURE(log);
    LineChart chart;
    chart.x_axis = {"x", log, 1, 100};
    chart.y_axis = {"y", log, 1, 100};
    const double middle = log ? 10 : 50.5;
    chart.series = {dot(1, 1, red), dot(middle, middle, green), dot(100, 100, blue)};
    const Canvas canvas = render(chart);
    const Point low = place_of(canvas, red), high = place_of(canvas, blue);
    const Point mean = 0.5 * (low + high), seen = place_of(canvas, green);
    CHECK(high.x > low.x + 250);
    CHECK(high.y < low.y - 150);
    CHECK(std::hypot(seen.x - mean.x, seen.y - mean.y) < 1e-9);
  }
}

TEST_CASE("the ends of an axis stand at the ends of the plot", "[phase0][plot]") {
  for (const bool log : {false, true}) {
    const Range range{2, 50, log};
    CHECK(range.share(2) == 0);
    CHECK(std::abs(range.share(50) - 1) < 1e-12);
    CHECK(std::abs(range.share(log ? 10 : 26) - 0.5) < 1e-12);
    CHECK(std::isnan(range.share(not_a_number)));
    CHECK(std::isnan(range.share(-1)) == log);

    LineChart chart;
    chart.x_axis = chart.y_axis = {"", log, 2, 50};
    chart.series = {dot(2, 2, red), dot(50, 50, green)};
    constexpr Colour purple{130, 0, 130};
    chart.reference_lines = {{log ? 10.0 : 26.0, "", purple}};  // in the middle, from end to end
    const Canvas canvas = render(chart);
    const Polyline line = line_of(canvas, purple);
    CAPTURE(log);
    CHECK(line.points.front().x == place_of(canvas, red).x);
    CHECK(line.points.back().x == place_of(canvas, green).x);
  }
}

TEST_CASE("points that are no numbers leave a gap, lonely ones a dot", "[phase0][plot]") {
  LineChart chart;
  Series whole{"", {0, 1, 2, 3, 4}, {1, 1, 1, 1, 1}};
  whole.colour = red;
  chart.y_axis = {"", false, 0, 2};
  chart.series = {whole};
  const int full = count(decode_png(render(chart)), red);
  chart.series[0].y[1] = not_a_number;
  const int gap = count(decode_png(render(chart)), red);
  CHECK(gap < 0.6 * full);
  CHECK(gap > 0.4 * full);
  chart.x_axis = {"", false, 0, 4};
  chart.series[0].y = {1, not_a_number, 1, std::numeric_limits<double>::infinity(), 1};
  CHECK(count(decode_png(render(chart)), red) > 50);
  chart.x_axis.log = true;  // 0 has no place on a log axis
  chart.x_axis.low = 1;
  CHECK(count(decode_png(render(chart)), red) > 30);
}

TEST_CASE("lines are cut off at the rim of the plot", "[phase0][plot]") {
  LineChart chart;
  chart.y_axis = {"", false, 0, 1};
  Series wild{"", {0, 1, 2, 3}, {-50, 60, -70, 80}};
  wild.colour = red;
  chart.series = {wild};
  CHECK(has_clean_border(decode_png(render(chart))));
}

TEST_CASE("a reference line crosses the whole plot at its height", "[phase0][plot]") {
  LineChart chart;
  chart.y_axis = {"", false, 0, 4};
  chart.series = {dot(0, 0, red), dot(1, 4, green)};
  constexpr Colour purple{130, 0, 130};
  chart.reference_lines = {{1, "", purple}};
  const Canvas canvas = render(chart);
  const Point bottom = place_of(canvas, red), top = place_of(canvas, green);
  const Polyline line = line_of(canvas, purple);
  for (const Point p : line.points) CHECK(std::abs(p.y - between(bottom, top, 0.25).y) < 1e-9);
  CHECK(line.points.front().x == bottom.x);
  CHECK(line.points.back().x == top.x);
}

TEST_CASE("annotations of one point do not cover each other", "[phase0][plot]") {
  LineChart chart;
  chart.x_axis = {"x", true, 0.1, 100};
  chart.y_axis = {"y", true, 1, 100};
  for (const std::size_t count : {3, 20}) {  // the last of twenty stand far off
    chart.annotations = std::vector<Annotation>(count, {1, 10, "plain loop", false});
    const Canvas canvas = render(chart);
    CHECK(texts(canvas, Role::note).size() == count);
    CHECK(trouble(canvas) == "");
  }
}

TEST_CASE("no label of a chart is cut off", "[phase0][plot]") {
  LineChart chart;
  chart.title = "A rather long title for a small picture, which has to be broken into lines";
  chart.subtitle = "and a subtitle";
  chart.x_axis.name = "the number of training steps so far";
  chart.y_axis = {"loss, in nats, on the held-out sentences", true};
  for (int k = 0; k < 9; ++k) {
    chart.series.push_back({"series number " + std::to_string(k), {1, 2, 3}, {1e-7, 1.0, 1e9}});
  }
  CHECK(trouble(render(chart, 420, 420)) == "");
  BarChart bars;
  bars.labels = {"first", "a very long label that wants to stand upright", "third"};
  bars.series = {{"one", {1e9, -2e9, not_a_number}}, {"two", {3, 4, 5}}};
  bars.label_axis = "heads";
  CHECK(trouble(render(bars, 300, 420)) == "");
}

TEST_CASE("bars are as high as their values, on both sides of zero", "[phase0][plot]") {
  BarChart chart;
  chart.labels = {"a", "b"};
  chart.print_values = false;
  chart.y_axis = {"", false, -4, 4};
  chart.series = {{"", {1, 1}, red}, {"", {-3, not_a_number}, green}};
  const Canvas canvas = render(chart);
  std::vector<Rect> ups, downs;
  for (const FilledRect& shape : all<FilledRect>(canvas)) {
    if (shape.colour == red) ups.push_back(shape.rect);
    if (shape.colour == green) downs.push_back(shape.rect);
  }
  REQUIRE(ups.size() == 2);
  REQUIRE(downs.size() == 1);
  CHECK(std::abs(downs[0].height - 3 * ups[0].height) < 2);  // both end between pixels
  CHECK(ups[0].height == ups[1].height);
  CHECK(std::abs(ups[0].bottom() - downs[0].y) < 0.01);
}

TEST_CASE("an axis ends where its numbers do, however far from zero", "[phase0][plot]") {
  for (const double inside : {0.0, 0.0005}) {
    const Range range = settle({}, {1000.001 + inside, 1000.007 - inside}, "chart");
    CHECK(std::abs(range.low - 1000.001) < 1e-9);
    CHECK(std::abs(range.high - 1000.007) < 1e-9);
  }
}

TEST_CASE("an axis begins at zero where that is near", "[phase0][plot]") {
  CHECK(settle({}, {1.9, 5}, "chart").low == 0);
  CHECK(settle({}, {2, 5}, "chart").low == 2);
  CHECK(settle({}, {-5, -1.9}, "chart").high == 0);
  CHECK(settle({}, {-5, -2}, "chart").high == -2);
}

TEST_CASE("an axis has two numbers at least", "[phase0][plot]") {
  CHECK(ticks_for({0.5, 3.5, false}, 100, 62).at == std::vector<double>{1, 2, 3});
  CHECK(ticks_for({1.2, 1.9, true}, 100, 62).at.size() > 1);  // between 1 and 2
}

TEST_CASE("numbers of an axis do not touch", "[phase0][plot]") {
  LineChart chart;
  chart.series = {{"", {0, 1e-5}, {0, 1}}};
  const std::vector<Text> across = texts(render(chart, 320, 240, 1), Role::x_tick);
  REQUIRE(across.size() > 2);
  for (std::size_t i = 1; i < across.size(); ++i) {
    CHECK(bounds(across[i]).x > bounds(across[i - 1]).right() + 5);
  }
  BarChart bars;
  bars.labels = {"a label that has to stand upright", "another one that has to stand upright"};
  bars.series = {{"", {0.3, 1}}};
  const std::vector<Text> upwards = texts(render(bars, 200, 240, 1), Role::y_tick);
  REQUIRE(upwards.size() > 1);
  for (std::size_t i = 1; i < upwards.size(); ++i) {
    CHECK(middle(upwards[i]).y < middle(upwards[i - 1]).y - 1.09 * 11.5);
  }
}

TEST_CASE("charts say what does not fit together", "[phase0][plot]") {
  const auto words = [](const auto& chart) { return words_of_error([&] { render(chart); }); };
  LineChart line;
  CHECK(contains(words(line), "no series to draw"));
  line.series = {{"loss", {1, 2}, {1}}};
  CHECK(contains(words(line), "series \"loss\" has 2 x values but 1 y values"));
  line.series = {{"loss", {1, 2}, {-1, -2}}};
  line.y_axis = {"speed", true};
  CHECK(contains(words(line), "\"speed\" has no positive finite value"));
  line.y_axis = {"speed", false, 3, 3};
  CHECK(contains(words(line), "\"speed\" needs a range with low < high; leave the ends empty"));
  line.y_axis = {"speed", true, 0, 3};
  CHECK(contains(words(line), "needs a range with low < high, both positive; leave the ends"));
  BarChart bars;
  CHECK(contains(words(bars), "nothing to draw"));
  bars.labels = {"a"};
  bars.series = {{"s", {1, 2}}};
  CHECK(contains(words(bars), "2 values for 1 labels"));
  bars.series = {{"s", {1}}};
  bars.y_axis.log = true;
  CHECK(contains(words(bars), "log axis"));
}

}  // namespace
}  // namespace tapestry::plot
