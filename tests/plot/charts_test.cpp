#include "tapestry/plot/charts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "plot/axes.hpp"
#include "plot/decoded.hpp"
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

// The mean place of a colour in pixels.
Point centre_of(const Decoded& picture, Colour colour) {
  Point sum;
  double found = 0;
  for (int row = 0; row < picture.height; ++row) {
    for (int column = 0; column < picture.width; ++column) {
      if (picture.at(column, row) != colour) continue;
      sum = sum + Point{column + 0.5, row + 0.5};
      ++found;
    }
  }
  REQUIRE(found > 0);
  return (1 / found) * sum;
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
    const Decoded picture = decode_png(render(chart));
    const Point low = centre_of(picture, red), high = centre_of(picture, blue);
    const Point mean = 0.5 * (low + high), seen = centre_of(picture, green);
    CHECK(high.x > low.x + 500);
    CHECK(high.y < low.y - 300);  // up is smaller in pixels
    CHECK(std::abs(seen.x - mean.x) < 1.5);
    CHECK(std::abs(seen.y - mean.y) < 1.5);
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
    const Decoded picture = decode_png(render(chart));
    int left = picture.width, right = 0;
    for (int row = 0; row < picture.height; ++row) {
      for (int column = 0; column < picture.width; ++column) {
        if (picture.at(column, row) != purple) continue;
        left = std::min(left, column);
        right = std::max(right, column + 1);
      }
    }
    const Point low = centre_of(picture, red), high = centre_of(picture, green);
    CAPTURE(log, low.x, left, high.x, right);
    CHECK(std::abs(low.x - left) < 2);
    CHECK(std::abs(high.x - right) < 15);  // the line ends in a dash or in a gap
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
  const Decoded picture = decode_png(render(chart));
  const Point bottom = centre_of(picture, red), top = centre_of(picture, green);
  const Point line = centre_of(picture, purple);
  CHECK(std::abs(line.y - (bottom.y + 0.25 * (top.y - bottom.y))) < 2);
  CHECK(std::abs(line.x - (bottom.x + top.x) / 2) < 10);
}

TEST_CASE("annotations of one point do not cover each other", "[phase0][plot]") {
  LineChart chart;
  chart.x_axis = {"x", true, 0.1, 100};
  chart.y_axis = {"y", true, 1, 100};
  const auto ink = [&](std::vector<Annotation> notes) {
    chart.annotations = std::move(notes);
    const Decoded picture = decode_png(render(chart));
    double dark = 0;
    for (const Colour c : picture.pixels) dark += c.g < 60 ? 1 : 0;
    return dark;
  };
  const double none = ink({{1e9, 1e9, "", false}});
  const double one = ink({{1, 10, "plain loop", false}}) - none;
  CHECK(one > 50);
  for (const std::size_t count : {3, 20}) {  // the last of twenty stand far off, on thin grey lines
    const double all = ink(std::vector<Annotation>(count, {1, 10, "plain loop", false})) - none;
    CHECK(std::abs(all / double(count) - one) < 0.1 * one);
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
  CHECK(has_clean_border(decode_png(render(chart, 420, 420))));
  BarChart bars;
  bars.labels = {"first", "a very long label that wants to stand upright", "third"};
  bars.series = {{"one", {1e9, -2e9, not_a_number}}, {"two", {3, 4, 5}}};
  bars.label_axis = "heads";
  CHECK(has_clean_border(decode_png(render(bars, 300, 420))));
}

TEST_CASE("bars are as high as their values, on both sides of zero", "[phase0][plot]") {
  BarChart chart;
  chart.labels = {"a", "b"};
  chart.print_values = false;
  chart.y_axis = {"", false, -4, 4};
  chart.series = {{"", {1, 1}, red}, {"", {-3, not_a_number}, green}};
  const Decoded picture = decode_png(render(chart));
  // Two red bars of height 1 against one green bar of height 3.
  const double ratio = static_cast<double>(count(picture, green)) / count(picture, red);
  CHECK(std::abs(ratio - 1.5) < 0.05);
  CHECK(centre_of(picture, green).y > centre_of(picture, red).y);
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

// The longest run of pixels with ink between two rows, where gaps of less than `gap` do not count.
int longest_text(const Decoded& picture, int top, int bottom, int gap) {
  int longest = 0, begin = 0, last = -gap - 1;
  for (int column = 0; column < picture.width; ++column) {
    if (!has_ink(picture, column, top, column + 1, bottom)) continue;
    if (column - last > gap) begin = column;
    last = column;
    longest = std::max(longest, last - begin + 1);
  }
  return longest;
}

TEST_CASE("numbers of an axis do not touch", "[phase0][plot]") {
  LineChart chart;
  chart.series = {{"", {0, 1e-5}, {0, 1}}};
  const Decoded wide = decode_png(render(chart, 320, 240, 1));
  CHECK(longest_text(wide, 198, 212, 5) < 50);  // 2×10⁻⁶ is 38 wide

  BarChart bars;
  bars.labels = {"a label that has to stand upright", "another one that has to stand upright"};
  bars.series = {{"", {0.3, 1}}};
  const Decoded low = decode_png(render(bars, 200, 240, 1));
  int ink = 0, longest = 0;  // down the column of the numbers
  for (int row = 0; row < low.height; ++row) {
    ink = has_ink(low, 24, row, 40, row + 1) ? ink + 1 : 0;
    longest = std::max(longest, ink);
  }
  CHECK(longest > 5);
  CHECK(longest < 12);
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
