// Where bars and their numbers stand, to a tenth of a unit.
#include <cmath>

#include "catch.hpp"
#include "plot/words.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry::plot {
namespace {

Canvas fine(const BarChart& chart) { return render(chart, 300, 160, 10); }

BarChart chart_of(std::size_t labels, const std::vector<std::vector<double>>& series) {
  BarChart chart;
  chart.labels.assign(labels, "a");
  for (const std::vector<double>& values : series) chart.series.push_back({"", values});
  chart.print_values = false;
  return chart;
}

std::vector<Rect> bars(const Canvas& canvas) {
  std::vector<Rect> found;
  for (const FilledRect& shape : all<FilledRect>(canvas)) {
    if (shape.colour == series_colour(0) || shape.colour == series_colour(1)) {
      found.push_back(shape.rect);
    }
  }
  return found;
}

// The line at 0, from end to end of the plot.
Polyline base(const Canvas& canvas) {
  for (const Polyline& line : all<Polyline>(canvas)) {
    if (line.stroke.colour == theme::frame) return line;
  }
  return {};
}

// How far labels, the middles of groups, are apart.
double pitch(const Canvas& canvas) {
  const std::vector<Text> labels = texts(canvas, Role::x_tick);
  return labels.at(1).at.x - labels.at(0).at.x;
}

Approx near(double place) { return Approx(place).margin(0.11); }

TEST_CASE("bars are 64 wide at most, and bars of one group have a gap", "[phase0][plot]") {
  const Canvas single = fine(chart_of(2, {{1, 2}}));
  REQUIRE(bars(single).size() == 2);
  CHECK(bars(single)[0].width == near(64));
  const Canvas pair = fine(chart_of(1, {{1}, {2}}));
  const Polyline line = base(pair);
  const double middle = (line.points.at(0).x + line.points.at(1).x) / 2;
  REQUIRE(bars(pair).size() == 2);
  CHECK(bars(pair)[0].x == near(middle - 64 + 0.75));
  CHECK(bars(pair)[0].width == near(64 - 1.5));
  CHECK(bars(pair)[1].x == near(middle + 0.75));
  const Canvas many = fine(chart_of(12, {std::vector<double>(12, 1), std::vector<double>(12, 2)}));
  const double bar = 0.76 * pitch(many) / 2;
  REQUIRE(bars(many).size() == 24);
  CHECK(bars(many)[1].x - bars(many)[0].x == near(bar));
  CHECK(bars(many)[0].width == near(0.92 * bar));
}

TEST_CASE("bars end with the plot, which always contains 0", "[phase0][plot]") {
  BarChart chart = chart_of(3, {{1, 5, -5}});
  chart.y_axis = {"", false, -1, 1};
  const std::vector<Rect> cut = bars(fine(chart));
  REQUIRE(cut.size() == 3);
  CHECK(cut[1].height == near(cut[0].height));
  CHECK(cut[2].height == near(cut[0].height));
  chart = chart_of(1, {{4}});
  chart.y_axis = {"", false, 2, 8};
  CHECK(words(fine(chart), Role::y_tick).front() == "0");
  chart.y_axis = {"", false, -8, -2};
  CHECK(words(fine(chart), Role::y_tick).back() == "0");
}

TEST_CASE("numbers on bars fill the room of their group or bar, in sizes that can be read",
          "[phase0][plot]") {
  for (const std::size_t series : {1u, 2u}) {
    const std::size_t labels = series == 1 ? 8 : 3;
    BarChart chart = chart_of(
        labels, std::vector<std::vector<double>>(series, std::vector<double>(labels, 0.125)));
    chart.print_values = true;
    chart.digits = 3;
    const Canvas canvas = fine(chart);
    const double room = series == 1 ? 0.96 * pitch(canvas) : 0.97 * 0.76 * pitch(canvas) / 2;
    const std::vector<Text> values = texts(canvas, Role::value);
    REQUIRE(values.size() == series * labels);
    CHECK(values[0].style.size > 7.5);
    CHECK(values[0].style.size < 11.5);
    CHECK(measure_text("0.125", values[0].style).width == Approx(room));
  }
}

TEST_CASE("a number stands beyond its bar, on a patch of paper", "[phase0][plot]") {
  BarChart chart = chart_of(2, {{2, -2}});
  chart.print_values = true;
  const Canvas canvas = fine(chart);
  std::vector<FilledRect> patches = all<FilledRect>(canvas);
  std::erase_if(patches, [](const FilledRect& shape) { return shape.colour != theme::paper; });
  const std::vector<Text> values = texts(canvas, Role::value);
  REQUIRE(patches.size() == 2);
  REQUIRE(values.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Text& value = values[i];
    const double width = measure_text(value.words, value.style).width + 2;
    CHECK(value.style.size == 11.5);
    CHECK(patches[i].corner_radius == 2);
    CHECK(patches[i].rect.x == Approx(value.at.x - width / 2));
    CHECK(patches[i].rect.y == Approx(value.at.y - 0.55 * 11.5));
    CHECK(patches[i].rect.width == Approx(width));
    CHECK(patches[i].rect.height == Approx(1.1 * 11.5));
  }
  CHECK(values[0].at.y == near(bars(canvas)[0].y - 9));
  CHECK(values[1].at.y == near(bars(canvas)[1].bottom() + 9));
}

TEST_CASE("an automatic range has room for the numbers at its ends", "[phase0][plot]") {
  for (const double value : {2.0, -2.0}) {
    BarChart chart = chart_of(1, {{value}});
    const double plot = bars(fine(chart)).at(0).height;  // without numbers, all of it
    chart.print_values = true;
    const double text = 21.5 / plot;  // of a range of 1
    CHECK(bars(fine(chart)).at(0).height == near(plot / (1 + (value > 0 ? 1 : 2) * text)));
    chart.y_axis.low = value < 0 ? -2 : 0;
    chart.y_axis.high = value < 0 ? 0 : 2;
    CHECK(bars(fine(chart)).at(0).height == near(plot));
  }
}

}  // namespace
}  // namespace tapestry::plot
