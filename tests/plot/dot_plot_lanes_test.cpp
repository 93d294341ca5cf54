#include "plot/dot_plot_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

constexpr Range ten{0, 10, false};

DotPlot of_groups(std::vector<Runs> groups) {
  DotPlot chart;
  chart.labels.assign(groups.size(), "");
  chart.series = {{"", std::move(groups)}};
  return chart;
}

// One lane 96 wide with that many equal dots.
Lanes crowd(std::size_t dots) {
  return lanes_for(of_groups({{std::vector<double>(dots, 5)}}), ten, 100, 1000);
}

// How far the outermost dot is from the middle of its lane's dots.
double spread(const Lanes& lanes) {
  double farthest = 0;
  for (const Dot& dot : lanes.all[0].dots) farthest = std::max(farthest, std::abs(dot.across + 9));
  return farthest;
}

TEST_CASE("a single dot keeps its place in a lane that has no room beside it", "[phase5][plot]") {
  const Lanes lanes = lanes_for(of_groups({{{5}}}), ten, 100, 4);
  CHECK(lanes.all[0].dots[0].across == Approx(-(0.05 + 0.12) * 0.84 * 4));
  CHECK(lanes.radius == 3.6);
  const Lanes two = lanes_for(of_groups({{{5, 5}}}), ten, 100, 4);
  CHECK(two.all[0].dots[0].across == lanes.all[0].dots[0].across);
  CHECK(two.all[0].dots[1].across == lanes.all[0].dots[0].across);
  CHECK(two.radius == 1.8);
}

TEST_CASE("lanes share the room of their group, and are 96 wide at most", "[phase5][plot]") {
  DotPlot chart = of_groups({{{1}}, {{2}}});
  chart.series.resize(3, chart.series[0]);
  const Lanes lanes = lanes_for(chart, ten, 50, 240);
  CHECK(lanes.group == 120);
  CHECK(lanes.lane == Approx(0.84 * 40));
  CHECK(lanes.half_bar == Approx(0.12 * 0.84 * 40));
  CHECK(lanes.bar_across == Approx(3.6 + 0.05 * 0.84 * 40));
  REQUIRE(lanes.all.size() == 6);
  CHECK(lanes.all[2].dots[0].along == Approx(5));  // group by group
  CHECK(lanes.all[3].dots[0].along == Approx(10));
  const Lanes wide = crowd(1);
  CHECK(wide.lane == 96);
  CHECK(wide.half_bar == 7);
  CHECK(wide.bar_across == Approx(3.6 + 2));
  CHECK(wide.all[0].dots[0].across == Approx(-9));
}

TEST_CASE("the more dots stand side by side, the smaller they are", "[phase5][plot]") {
  const auto room = [](double radius) { return 0.47 * 96 - 9 - radius; };
  for (const auto& [dots, radius] :
       {std::pair{7u, 3.6}, {8u, 3.0}, {9u, 3.0}, {10u, 2.4}, {12u, 1.8}}) {
    const Lanes lanes = crowd(dots);
    CAPTURE(dots);
    CHECK(lanes.radius == radius);
    CHECK(spread(lanes) == Approx(std::floor(dots / 2) * (2 * radius + 1)));
    CHECK(spread(lanes) < room(radius));
    CHECK(lanes.bar_across == Approx(spread(lanes) + radius + 2));
  }
  const Lanes pressed = crowd(16);  // into what room there is
  CHECK(pressed.radius == 1.8);
  CHECK(spread(pressed) == Approx(room(1.8)));
  CHECK(pressed.bar_across == Approx(room(1.8) + 1.8 + 2));
}

TEST_CASE("the mean stands beside the outermost dot, first or last", "[phase5][plot]") {
  for (const std::vector<double>& values : {std::vector<double>{5.1, 5}, {5, 5.1}}) {
    const Lanes lanes = lanes_for(of_groups({{values}}), ten, 100, 1000);
    CHECK(lanes.bar_across == Approx(std::sqrt(8.2 * 8.2 - 1) + 3.6 + 2));
  }
}

TEST_CASE("dots that are a gap apart stay in line, censored ones need their arrows' length",
          "[phase5][plot]") {
  const auto in_line = [](const Runs& runs) {
    return spread(lanes_for(of_groups({runs}), ten, 100, 1000)) < 1e-9;
  };
  CHECK(in_line({{5, 5.83}}));
  CHECK_FALSE(in_line({{5, 5.81}}));
  CHECK(in_line({{6.93}, {5}}));
  CHECK_FALSE(in_line({{6.91}, {5}}));
}

TEST_CASE("a value may lie beside its axis by rounding", "[phase5][plot]") {
  const auto notes = [](double value) { return notes_on({{value}}, {0, 1, false}).size(); };
  CHECK(notes(-0.8e-9) == 0);
  CHECK(notes(-1e-9) == 1);
  CHECK(notes(-1.2e-9) == 1);
  CHECK(notes(1 + 0.8e-9) == 0);
  CHECK(notes(1 + 1e-9) == 1);
  CHECK(notes(1 + 1.2e-9) == 1);
}

TEST_CASE("three kinds of notes are written, of the others how many", "[phase5][plot]") {
  CHECK(notes_on({{11, 12, 11, 13}, {14}}, ten) == Notes{"11 ×2", "12", "13", "1 more"});
  CHECK(notes_on({{11, 12.5}, {13}}, ten) == Notes{"11", "12.50", "> 13"});
  CHECK(notes_on({{1}, {2}}, ten).empty());
}

TEST_CASE("whiskers end beyond the plot where their ends are too far off, or have no place",
          "[phase5][plot]") {
  // Their places, from the low end (0) to the high end (1); that of the last run is known.
  const auto ends = [](const Runs& runs, const Axis& axis, double last) {
    DotPlot chart = of_groups({runs});
    chart.value_axis = axis;
    const Canvas canvas = render(chart);
    std::vector<Polyline> lines = all<Polyline>(canvas);
    std::erase_if(lines, [](const Polyline& line) { return line.stroke.colour != theme::frame; });
    const double bottom = lines.at(0).points.at(0).y;
    lines = all<Polyline>(canvas);
    std::erase_if(lines, [](const Polyline& line) {
      return line.stroke.width != 1.4 || line.stroke.colour != series_colour(0);
    });
    std::vector<FilledCircle> dots = all<FilledCircle>(canvas);
    std::erase_if(dots, [](const FilledCircle& dot) { return dot.colour != series_colour(0); });
    const double height = (bottom - dots.back().centre.y) / last;
    for (const Element& element : canvas.elements()) {
      const auto* line = std::get_if<Polyline>(&element.what);
      if (line == nullptr || line->stroke.width != 2.6 || !element.clip) continue;
      CHECK(element.clip->bottom() == Approx(bottom + 2));
    }
    return std::pair{(bottom - lines.at(1).points[0].y) / height,
                     (bottom - lines.at(2).points[0].y) / height};
  };
  const auto near = ends({{4, 4, 7}}, {"", false, 0, 10}, 0.7);
  const MeanInterval interval = mean_interval(std::vector<double>{4, 4, 7});
  CHECK(near.first == Approx(interval.low / 10));  // 0.07
  CHECK(near.second == Approx(interval.high / 10));
  const auto far = ends({{-40, 50, 10}}, {"", false, 0, 10}, 1);
  CHECK(far.first == Approx(-1));
  CHECK(far.second == Approx(2));
  const auto nowhere = ends({{1, 1, 10}}, {"", true, 1, 10}, 1);
  CHECK(nowhere.first == Approx(-1));
}

TEST_CASE("notes have their size where there is room, and are 0.95 as wide as a narrow lane",
          "[phase5][plot]") {
  const auto notes = [](std::size_t groups, bool rows) {
    DotPlot chart = of_groups(std::vector<Runs>(groups, Runs{{5, 30}}));
    chart.value_axis = {"", false, 0, 10};
    chart.rows = rows;
    return texts(render(chart, 460, 420), Role::note);
  };
  CHECK(notes(2, false).at(0).style.size == 10.5);
  CHECK(notes(2, true).at(0).style.size == 10.5);
  const std::vector<Text> below = notes(40, false), beside = notes(40, true);
  const double width = 0.84 * (below.at(1).at.x - below.at(0).at.x);
  CHECK(measure_text("30", below[0].style).width == Approx(0.95 * width));
  const double height = 0.84 * (beside.at(1).at.y - beside.at(0).at.y);
  CHECK(beside[0].style.size == Approx(height / 1.1));
}

TEST_CASE("a plot of dots is 420 high", "[phase5][plot]") {
  CHECK(render(of_groups({{{5, 30}}})).height() == 420);
}

}  // namespace
}  // namespace tapestry::plot
