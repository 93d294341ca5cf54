// See snapshot.hpp for what these tests are worth.
#include <limits>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/dot_plot.hpp"

namespace tapestry::plot {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Canvas small(const LineChart& chart) { return render(chart, 320, 240, 1); }
Canvas small(const BarChart& chart) { return render(chart, 320, 240, 1); }

LineChart of_points(std::vector<double> x, std::vector<double> y) {
  LineChart chart;
  chart.series = {{"", std::move(x), std::move(y)}};
  return chart;
}

TEST_CASE("line charts look as they did", "[phase0][plot]") {
  LineChart chart;
  chart.title = "A title that is long enough to need a second line";
  chart.subtitle = "and what it says in d_model words";
  chart.x_axis.name = "step";
  chart.y_axis.name = "loss";
  chart.series = {{"training", {0, 1, 2, 3, 4, 5}, {9, 7, none, 4, none, 3}},
                  {"held out", {0, 1, 2, 3, 4, 5}, {8, 8, 7, 6.5, 6, 5}},
                  {"a third", {0, 5}, {2, 8}},
                  {"", {0, 2.5, 5}, {1, 2, 1}}};
  chart.series[1].markers = true;
  chart.series[2].dashed = true;
  chart.series[3].line = false;
  chart.series[3].markers = true;
  chart.series[3].colour = Colour{200, 0, 120};
  chart.reference_lines = {{6, "goal"}, {2.5, "", {0, 140, 0}}, {70, "too high"}};
  chart.y_axis.high = 10;
  check_snapshot("lines", 0x96EAD97D4FB30FC8u, render(chart, 360, 320, 1));
}

TEST_CASE("logarithmic charts look as they did", "[phase0][plot]") {
  LineChart chart;
  chart.x_axis = {"operations per byte", true};
  chart.y_axis = {"GFLOP/s", true};
  chart.series = {{"roof", {0.1, 10, 1000}, {1, 100, 100}},
                  {"no place at 0", {0, 1, 10}, {3, 0, 30}}};
  chart.annotations = {{0.3, 2, "embedding"}, {20, 80, "matmul"},        {20, 80, "matmul again"},
                       {700, 1.5, "softmax"}, {30, 60, "no dot", false}, {1e9, 5, "outside"}};
  for (int k = 0; k < 4; ++k) chart.annotations.push_back({2, 8, "crowd " + std::to_string(k)});
  chart.x_axis.high = 1000;
  check_snapshot("roofline", 0xA9CA23A2F92D101Du, render(chart, 460, 340, 1));
}

TEST_CASE("logarithmic axes look as they did", "[phase0][plot]") {
  LineChart wide = of_points({3, 8, 40}, {1e-7, 1e3, 2e9});
  wide.x_axis.log = wide.y_axis.log = true;
  check_snapshot("two powers", 0xAB53B006727755B0u, small(wide));
  LineChart narrow = of_points({2, 3, 6}, {3, 40, 700});
  narrow.x_axis = {"x", true, 1.5, 9};
  narrow.y_axis = {"a name that is far too long for such a small picture", true, {}, 900};
  check_snapshot("between powers", 0xD85C7B3AFB2D5D3Du, small(narrow));
  LineChart one = of_points({3}, {5});
  one.x_axis.log = one.y_axis.log = true;
  check_snapshot("one point, logarithmic", 0x4E0FF89F3567E4D3u, small(one));
}

TEST_CASE("axes of all kinds look as they did", "[phase0][plot]") {
  check_snapshot("one point", 0xD7D05D08C0CBE98Du, small(of_points({-4}, {5})));
  check_snapshot("zero", 0x162FC21EE9EAC88Au, small(of_points({0, 1e-5}, {0, 0})));
  check_snapshot("below zero", 0x6BCC78F6F1807B77u, small(of_points({-3, -1}, {-20, -2})));
  check_snapshot("far from zero", 0xFAA58BCF2F847153u,
                 small(of_points({1e6, 3.2e6}, {1000.001, 1000.007})));
  check_snapshot("across zero", 0x9253509F6DBC6BD6u,
                 small(of_points({-0.37, 0.21, 0.94}, {-7, 31, 12})));
  LineChart fixed = of_points({1, 2, 3}, {1, -5, 20});
  fixed.x_axis = {"x", false, 0.5, 3.5};
  fixed.y_axis = {"y", false, -2, 8};
  check_snapshot("cut off", 0x7F902DF8585F819Du, small(fixed));
  fixed.series[0].name = "a series with a name that is too long for its small picture";
  check_snapshot("a long name", 0x8B8D8AA252898D9Eu, small(fixed));
  Canvas canvas(300, 200, 2, {230, 250, 240});
  draw(canvas, {40.3, 20.7, 200, 150}, fixed);
  check_snapshot("in an area", 0x15432A3AF3A69118u, canvas);
}

TEST_CASE("as many numbers as before stand at an axis", "[phase0][plot]") {
  // At these heights one unit more or less would change how many there are.
  check_snapshot("numbers of an axis", 0x9AF0EB69146EA6F6u,
                 render(of_points({1, 2}, {0, 2.5}), 300, 207, 1));
  BarChart bars;
  bars.labels = {"a", "b"};
  bars.series = {{"", {1, 2.5}}};
  check_snapshot("numbers beside bars", 0x4370F472289D08C3u, render(bars, 300, 223, 1));
}

TEST_CASE("words around a point look as they did", "[phase0][plot]") {
  LineChart chart;
  chart.x_axis = {"", false, 0, 10};
  chart.y_axis = {"", false, 0, 10};
  for (const std::string& word : sample_words("word ", 16)) {
    chart.annotations.push_back({5, 5, word});
  }
  check_snapshot("a crowd of words", 0x66B4ACB20510222Bu, render(chart, 460, 340, 1));
}

TEST_CASE("words among lines stand as they did", "[phase0][plot]") {
  LineChart chart;
  chart.series = {{"", {0, 1, 2, 3, 4, 5, 6}, {0, 9, 2, 8, 1, 7, 3}},
                  {"", {0, 2, 4, 6}, {8, 3, 6, 0}}};
  for (int k = 0; k < 7; ++k) {
    chart.annotations.push_back({0.9 * k, 1.0 + k, "word " + std::to_string(k)});
  }
  check_snapshot("words among lines", 0x4B97B0EEB9262EB8u, render(chart, 300, 220, 1));
}

TEST_CASE("bar charts look as they did", "[phase0][plot]") {
  BarChart chart;
  chart.title = "Bars";
  chart.label_axis = "head";
  chart.y_axis.name = "entropy";
  chart.labels = {"first", "second", "the third"};
  chart.series = {{"before", {1.25, -0.5, 3}}, {"after", {2, -2.75, none}, Colour{200, 60, 60}}};
  chart.reference_lines = {{1.5, "goal"}, {2.5, ""}};
  check_snapshot("bars", 0x77092BBBE427691Du, small(chart));
  chart.series.pop_back();
  chart.series[0].values[1] = infinity;
  chart.digits = 0;
  check_snapshot("one series", 0xFB1BB16D15404F25u, small(chart));
  chart.series[0].values = {-1, -4, -2};
  chart.reference_lines.clear();
  check_snapshot("bars below zero", 0x1F425A495B9E7013u, small(chart));
  chart.y_axis.low = -3;
  chart.y_axis.high = 2;
  check_snapshot("bars cut off", 0xC1E794B2D018BBA1u, small(chart));
}

TEST_CASE("labels of bars look as they did", "[phase0][plot]") {
  BarChart chart;
  chart.labels = sample_words("bar ", 30);
  chart.series = {{"", sample_values(30, 0, 40)}};
  check_snapshot("upright labels", 0x47CA61DA73E6AEF3u, small(chart));
  chart.labels = {"one", "\tan uncommonly long label that has to be cut somewhere",
                  "three words here"};
  chart.series = {{"", {0, 0, 0}}};
  check_snapshot("a long label", 0x3E9CF97C851FCEDFu, small(chart));
  chart.labels = {"one", "three words here", "two words"};
  chart.series = {{"", {0.001, 0.0022, 0.0034}}};
  chart.print_values = false;
  check_snapshot("broken labels", 0xA97427B27DC49F53u, small(chart));
  Canvas canvas(200, 190, 1);
  chart.label_axis = "where";
  draw(canvas, {10.5, 3, 180, 180}, chart);
  check_snapshot("bars in an area", 0x692271EF3694B3C5u, canvas);
  chart.labels = sample_words("", 200);
  chart.series = {{"many", sample_values(200, -1, 1)}};
  check_snapshot("many bars", 0xD8EFC7F1C766258Cu, small(chart));
}

DotPlot in_rows(DotPlot chart) {
  chart.rows = true;
  return chart;
}

TEST_CASE("dot plots look as they did", "[phase5][plot]") {
  DotPlot chart;
  chart.title = "Dots";
  chart.subtitle = "five seeds each";
  chart.label_axis = "heads";
  chart.value_axis.name = "steps";
  chart.labels = {"1", "4", "a longer label", "none"};
  chart.series = {{"plain",
                   {{{210, 250, 230, 231, 228}},
                    {{120, 130, none, infinity, none}},
                    {{310}, {360, 360, 360}},
                    {}}},
                  {"gated", {{{100, 100, 100, 100}}, {{80, 85, 95}}, {{70}}, {{20, 200}}}}};
  chart.reference_lines = {{50, "goal"}};
  check_snapshot("dots", 0x6F706EEF76E03188u, render(chart, 420, 320, 1));
  chart.value_axis.log = true;
  check_snapshot("dots on a logarithmic axis", 0x309B32164EB56E0Au, render(chart, 420, 320, 1));
  chart.rows = true;
  check_snapshot("rows of dots, logarithmic", 0x8EE91BF38185D832u, render(chart, 420, 420, 1));
  chart.value_axis = {"steps", false, 60, 240};
  check_snapshot("rows of dots", 0x6A9ADFDFBC0E3463u, render(chart, 420, {}, 1));
  chart.series = {{"", {{{1, 1, 1}}, {{1}}, {}, {{1, 2, 3, 4, 5}}}, Colour{200, 0, 120}}};
  chart.value_axis = {};
  chart.interval_name = chart.label_axis = "";
  chart.rows = false;
  check_snapshot("one series in rows", 0x436162BEDEE30949u, render(in_rows(chart), 320, 240, 1));
  check_snapshot("one series of dots", 0xE616FF855DED5E6Au, render(chart, 320, 240, 1));
}

}  // namespace
}  // namespace tapestry::plot
