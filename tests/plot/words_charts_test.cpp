// The words of charts, flows and diagrams: each stands at what it names.
#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "plot/words.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

using namespace sample;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("ticks of a chart stand at the points that have their value", "[phase0][plot]") {
  for (const bool log : {false, true}) {
    const LineChart chart = lines(log);
    const Canvas canvas = render(chart);
    const Colour colour = series_colour(0);
    std::vector<FilledCircle> points = all<FilledCircle>(canvas);
    std::erase_if(points, [&](const FilledCircle& point) { return point.colour != colour; });
    const std::vector<double>& values = chart.series[0].x;
    REQUIRE(points.size() == 1 + values.size());
    points.erase(points.begin());  // of the legend
    const auto place = [&](const Text& tick) {
      const auto at = std::find_if(values.begin(), values.end(), [&](double value) {
        return number_text(value, 0) == tick.words;
      });
      return at == values.end() ? Point{none, none}
                                : points[static_cast<std::size_t>(at - values.begin())].centre;
    };
    std::size_t found = 0;
    for (const Text& tick : texts(canvas, Role::x_tick)) {
      const Point p = place(tick);
      found += std::abs(middle(tick).x - p.x) < 0.3 && middle(tick).y > p.y ? 1 : 0;
    }
    for (const Text& tick : texts(canvas, Role::y_tick)) {
      const Point p = place(tick);
      found += std::abs(middle(tick).y - p.y) < 0.3 && bounds(tick).right() < p.x ? 1 : 0;
    }
    CAPTURE(log);
    CHECK(found == 2 * values.size());
  }
}

TEST_CASE("a chart names its axes, lines and points", "[phase0][plot]") {
  for (const bool log : {false, true}) {
    const Canvas canvas = render(lines(log));
    CHECK(words(canvas, Role::x_axis) == Names{"step"});
    CHECK(words(canvas, Role::y_axis) == Names{"loss"});
    CHECK(texts(canvas, Role::y_axis)[0].style.angle == 90);
    CHECK(words(canvas, Role::legend) == Names{"training", "held out", "guessing"});
    CHECK(words(canvas, Role::note) == Names{"the best", "the second"});
  }
}

TEST_CASE("instead of a legend, names stand at the ends of their lines", "[phase6][plot]") {
  LineChart chart = lines(true);
  chart.end_labels = true;
  const Canvas canvas = render(chart);
  const std::vector<Text> names = texts(canvas, Role::legend);
  REQUIRE(words(canvas, Role::legend) == Names{"training", "held out", "guessing"});
  const std::vector<Polyline> drawn = all<Polyline>(canvas);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto line = std::find_if(drawn.begin(), drawn.end(), [&](const Polyline& found) {
      return found.stroke.colour == series_colour(i);
    });
    REQUIRE(line != drawn.end());
    const Point end = line->points.back();
    CHECK(bounds(names[i]).x > end.x);
    CHECK(bounds(names[i]).x < end.x + 14);
    CHECK(std::abs(middle(names[i]).y - end.y) < 1);
  }
  CHECK(trouble(canvas) == "");
}

TEST_CASE("names of lines that end together do not touch, and can be read", "[phase6][plot]") {
  LineChart chart;
  chart.end_labels = true;
  chart.y_axis = {.name = "loss", .low = 0, .high = 10};
  for (int k = 0; k < 8; ++k) {
    chart.series.push_back({"series " + std::to_string(k), {0, 1}, {double(k), 9.9}});
  }
  chart.series.push_back({"", {0, 1}, {5, 5}});
  chart.series.push_back({"above the plot", {0, 1}, {5, 50}});
  chart.series.push_back({"ends early", {0, 0.5, 1}, {5, 2, none}});
  const Canvas canvas = render(chart);
  const std::vector<Text> names = texts(canvas, Role::legend);
  CHECK(names.size() == 9);
  CHECK(trouble(canvas) == "");
  for (const Text& name : names) CHECK(contrast_ratio(name.style.colour, theme::paper) >= 4.5);
}

TEST_CASE("labels stand below their bars, values at their ends", "[phase0][plot]") {
  for (const Names& labels : {Names{"0", "1", "2", "3"}, sample_words("upright-", 26)}) {
    const BarChart chart = bars(labels);
    const Canvas canvas = render(chart, 900);
    const std::vector<Text> below = texts(canvas, Role::x_tick);
    CHECK(words(canvas, Role::x_tick) == labels);
    std::vector<FilledRect> drawn = all<FilledRect>(canvas);
    const Colour first = series_colour(0), second = series_colour(1);
    std::erase_if(drawn, [&](const FilledRect& bar) {
      return bar.corner_radius > 0 || (bar.colour != first && bar.colour != second);
    });
    REQUIRE(drawn.size() == 2 * labels.size());
    const std::vector<Text> values = texts(canvas, Role::value);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const double centre = (drawn[2 * i].rect.x + drawn[2 * i + 1].rect.right()) / 2;
      CHECK(std::abs(middle(below[i]).x - centre) < 1);
      CHECK(bounds(below[i]).y > drawn[2 * i].rect.bottom());
      for (const std::size_t k : {2 * i, 2 * i + 1}) {
        if (values.empty()) continue;
        CHECK(values[k].words == number_text(chart.series[k % 2].values[i], 2));
        CHECK(std::abs(middle(values[k]).x - drawn[k].rect.centre().x) < 1);
        CHECK(std::abs(middle(values[k]).y - (drawn[k].rect.y - 9)) < 1);
      }
    }
    CHECK(values.empty() == (labels.size() > 4));
    CHECK(words(canvas, Role::x_axis) == Names{"head"});
    CHECK(words(canvas, Role::legend) == Names{"before", "after"});
  }
}

TEST_CASE("labels of rows are cut where they become wider than 150", "[phase5][plot]") {
  const double longest = widest_cut([](const std::string& label) {
    return bounds(texts(render(dots({label}, true)), Role::y_tick)[0]).width;
  });
  CHECK(longest <= 150);
  CHECK(longest > 149.5);
}

TEST_CASE("queries of a flow stand at the left, keys at the right, in order", "[phase3][plot]") {
  const Canvas canvas = render(flow());
  std::vector<Rect> frames;
  for (const FilledRect& shape : all<FilledRect>(canvas)) frames.push_back(shape.rect);
  REQUIRE(frames.size() == 12);
  const std::vector<Text> queries = texts(canvas, Role::row_label);
  const std::vector<Text> keys = texts(canvas, Role::column_label);
  CHECK(words(canvas, Role::row_label) == shown(sentence));
  CHECK(words(canvas, Role::column_label) == shown(sentence));
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(std::abs(middle(queries[i]).y - frames[i].centre().y) < 0.3);
    CHECK(std::abs(middle(keys[i]).y - frames[6 + i].centre().y) < 0.3);
    for (const Point p : corners(queries[i])) CHECK(frames[i].contains(p));
    for (const Point p : corners(keys[i])) CHECK(frames[6 + i].contains(p));
    CHECK((i == 0 || middle(queries[i]).y > middle(queries[i - 1]).y + 20));
  }
  REQUIRE(words(canvas, Role::row_axis) == Names{"query"});
  REQUIRE(words(canvas, Role::column_axis) == Names{"key"});
  CHECK(bounds(texts(canvas, Role::row_axis)[0]).bottom() < frames[0].y);
  CHECK(texts(canvas, Role::row_axis)[0].at.x < 300);
  CHECK(texts(canvas, Role::column_axis)[0].at.x > 340);
}

TEST_CASE("the words of a diagram stand in their boxes, those of arrows outside",
          "[phase1][plot]") {
  for (const Direction direction : {Direction::right, Direction::down}) {
    const Canvas canvas = render(diagram(direction));
    std::vector<Rect> boxes;
    for (const FilledRect& shape : all<FilledRect>(canvas)) {
      if (shape.corner_radius == 7) boxes.push_back(shape.rect);
    }
    REQUIRE(boxes.size() == 4);
    const auto box_of = [&](const std::string& word) {
      for (const Text& text : texts(canvas, Role::note)) {
        if (text.words != word) continue;
        for (std::size_t i = 0; i < 4; ++i) {
          const auto c = corners(text);
          if (std::all_of(c.begin(), c.end(), [&](Point p) { return boxes[i].contains(p); })) {
            CHECK(std::abs(middle(text).x - boxes[i].centre().x) < 0.3);
            return static_cast<int>(i);
          }
        }
      }
      return -1;
    };
    CHECK(box_of("input x") == 0);
    CHECK(box_of("Q = x W_Q") == 1);
    CHECK(box_of("and more") == 1);
    CHECK(box_of("K") == 2);
    CHECK(box_of("6 × 6") == 3);
    CHECK(box_of("softmax") == -1);
  }
}

}  // namespace
}  // namespace tapestry::plot
