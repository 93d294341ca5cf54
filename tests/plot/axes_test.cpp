// Ranges, ticks and words of axes, drawn alone.
#include "plot/axes.hpp"

#include <cmath>
#include <utility>

#include "catch.hpp"
#include "plot/frame.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

constexpr Rect plot{0, 0, 400, 300};

// The thin lines between powers of ten.
std::size_t minor_lines(const Canvas& canvas) {
  std::vector<Polyline> lines = all<Polyline>(canvas);
  std::erase_if(lines, [](const Polyline& line) { return line.stroke.width != 0.7; });
  return lines.size();
}

TEST_CASE("a logarithmic axis ends at 1, 2 or 5 times a power of ten", "[phase0][plot]") {
  const auto ends = [](double low, double high, double first, double last) {
    const Range range = settle({"", true}, {high, low}, "chart");
    CAPTURE(low, high);
    CHECK(range.low == Approx(first));
    CHECK(range.high == Approx(last));
    CHECK(range.log);
  };
  ends(1, 10, 1, 10);
  ends(9.5, 70, 5, 100);
  ends(3, 12, 2, 20);
  ends(0.04, 3, 0.02, 5);
  // A billionth beyond is rounding.
  ends(2 * (1 - 0.8e-9), 20 * (1 + 0.8e-9), 2, 20);
  ends(2 / (1 + 1e-9), 20 / (1 - 1e-9), 2, 20);
  ends(2 * (1 - 1.2e-9), 20 * (1 + 1.2e-9), 1, 50);
}

TEST_CASE("an axis begins at zero where small values are near it", "[phase0][plot]") {
  CHECK(settle({}, {0.19, 0.5}, "chart").low == 0);
  CHECK(settle({}, {0.2, 0.5}, "chart").low == Approx(0.2));
  CHECK(settle({}, {-0.5, -0.19}, "chart").high == 0);
  CHECK(settle({}, {-0.5, -0.2}, "chart").high == Approx(-0.2));
  CHECK(settle({}, {-0.3, 0.5}, "chart").low == Approx(-0.4));
}

TEST_CASE("an axis grows by a step where a value lies beyond its last number by more than rounding",
          "[phase0][plot]") {
  CHECK(settle({}, {1 - 0.7e-9, 2}, "chart").low == 1);
  CHECK(settle({}, {1 - 1.5e-9, 2}, "chart").low == Approx(0.8));
  CHECK(settle({}, {1, 2 + 0.7e-9}, "chart").high == 2);
  CHECK(settle({}, {1, 2 + 1.5e-9}, "chart").high == Approx(2.2));
  CHECK(settle({}, {-1e-9, 1 - 1e-9}, "chart").low == 0);
  CHECK(settle({}, {0, 1 + 1e-9}, "chart").high == 1);
  const Range widest = settle({}, {-1e308, 1e308}, "chart");  // of which no number is the width
  CHECK(widest.low == -1e308);
  CHECK_FALSE(widest.log);
}

TEST_CASE("an axis has as many numbers as fit, from two up to six steps", "[phase0][plot]") {
  using Places = std::vector<double>;
  CHECK(ticks_for({0, 10, false}, 100, 62).at == Places{0, 5, 10});
  CHECK(ticks_for({0, 9, false}, 100, 62).at == Places{0, 5});
  CHECK(ticks_for({0, 8, false}, 2000, 62).at.size() == 9);
  CHECK(ticks_for({0, 10, false}, 2000, 62).at == Places{0, 2, 4, 6, 8, 10});
  CHECK(ticks_for({1, 1e6, true}, 2000, 62).at.size() == 7);
}

TEST_CASE("thin lines divide powers of ten, seven of them at most", "[phase0][plot]") {
  for (const bool vertical : {false, true}) {
    const auto lines = [&](double low, double high) {
      Canvas canvas(400, 300, 1);
      const Range log{low, high, true};
      if (vertical) draw_x_axis(canvas, {plot, log, {}}, {}, "");
      if (!vertical) draw_y_axis(canvas, {plot, {}, log}, {}, "");
      return minor_lines(canvas);
    };
    CHECK(lines(1, 1e7) == 7 * 8);
    CHECK(lines(1, 1.01e7) == 0);
    CHECK(lines(2, 20) == 7);      // 3 to 9
    CHECK(lines(1, 50) == 8 + 3);  // 2 to 9, 20, 30 and 40
    CHECK(lines(0.4, 0.8) == 3);
  }
}

TEST_CASE("numbers of an axis may stand as near as they do not touch", "[phase0][plot]") {
  const Ticks two{{0, 1}, {"1", "1"}};
  const auto upwards = [&](double height) {
    Canvas canvas(100, 100, 1);
    draw_y_axis(canvas, {{30, 0, 50, height}, {}, {0, 1, false}}, two, "");
    return texts(canvas, Role::y_tick).size();
  };
  CHECK(upwards(1.1 * type::tick) == 2);
  CHECK(upwards(1.1 * type::tick - 0.1) == 1);
  const auto across = [&](double width) {
    Canvas canvas(100, 100, 1);
    draw_x_axis(canvas, {{10, 0, width, 50}, {0, 1, false}, {}}, two, "");
    return texts(canvas, Role::x_tick).size();
  };
  const double needed = measure_text("1", {type::tick}).width + 6;
  CHECK(across(needed) == 2);
  CHECK(across(needed - 0.1) == 1);
}

TEST_CASE("the name of an axis is cut where it is longer than its axis by 40", "[phase0][plot]") {
  for (const bool upright : {false, true}) {
    const double longest = widest_cut([&](const std::string& name) {
      Canvas canvas(200, 200, 1);
      const Axes axes{{50, 50, 100, 100}, {0, 1, false}, {0, 1, false}};
      if (upright) draw_y_axis(canvas, axes, {}, name);
      if (!upright) draw_x_axis(canvas, axes, {}, name);
      const Text drawn = texts(canvas, upright ? Role::y_axis : Role::x_axis).at(0);
      return measure_text(drawn.words, drawn.style).width;
    });
    CHECK(longest <= 140);
    CHECK(longest > 139.5);
  }
}

TEST_CASE("reference lines are drawn from end to end of their axis, and not beyond",
          "[phase0][plot]") {
  for (const bool upright : {false, true}) {
    Canvas canvas(400, 300, 1);
    const Axes axes{plot, {2, 10, false}, {2, 10, false}};
    draw_reference_lines(canvas, axes, {{2}, {10}, {1.99}, {10.01}, {4}}, upright);
    CHECK(all<Polyline>(canvas).size() == 3);
  }
}

// The offsets of a text from its point p where all places before are taken.
TEST_CASE("an annotation takes the first free place around its point, near ones first",
          "[phase0][plot]") {
  const Axes axes{plot, {0, 400, false}, {0, 300, false}};
  const Point p{200, 150};
  const double w = measure_text("words", {type::small}).width + 4, h = type::small + 4;
  const double right = 2, left = 2 - w, middle = 2 - w / 2;
  const std::vector<Point> wanted{
      {right + 7, 0},        {left - 7, 0},        {middle, -7 - h / 2},  {middle, 7 + h / 2},
      {middle, -16 - h / 2}, {middle, 16 + h / 2}, {right + 16, -16},     {right + 16, 16},
      {left - 16, -16},      {left - 16, 16},      {right + 28, 0},       {left - 28, 0},
      {middle, -28 - h / 2}, {middle, 28 + h / 2}, {right + 28, -28},     {right + 28, 28},
      {left - 28, -28},      {left - 28, 28},      {middle, -44 - h / 2}, {middle, 44 + h / 2},
      {right + 44, -44}};
  std::vector<Point> obstacles;
  std::vector<double> leaders;  // lengths
  for (const Point offset : wanted) {
    Canvas canvas(400, 300, 1);
    draw_annotations(canvas, axes, {{p.x, 300 - p.y, "words", false}}, obstacles);
    const Point at = texts(canvas, Role::note).at(0).at;
    CAPTURE(offset.x, offset.y);
    CHECK(at.x - p.x == Approx(offset.x));
    CHECK(at.y - p.y == Approx(offset.y));
    for (const Polyline& line : all<Polyline>(canvas)) {
      leaders.push_back(std::hypot(line.points[1].x - p.x, line.points[1].y - p.y));
    }
    obstacles.insert(obstacles.end(), 10, {at.x - 2 + w / 2, at.y});
  }
  REQUIRE(leaders.size() == 11);  // from 28 on
  CHECK(leaders[0] == Approx(25));
  CHECK(leaders[4] == Approx(33));   // of 34.8
  CHECK(leaders[10] == Approx(53));  // of 57.3
}

TEST_CASE("an annotation makes way for the dots of others, and no further", "[phase0][plot]") {
  const Axes axes{plot, {0, 400, false}, {0, 300, false}};
  const Point p{200, 150};
  const double w = measure_text("words", {type::small}).width + 4, h = type::small + 4;
  const Rect box{p.x + 7, p.y - h / 2, w, h};
  const auto moved = [&](Point other) {
    Canvas canvas(400, 300, 1);
    draw_annotations(canvas, axes, {{p.x, 300 - p.y, "words"}, {other.x, 300 - other.y, "others"}},
                     {});
    return std::abs(texts(canvas, Role::note).at(0).at.x - (box.x + 2)) > 1;
  };
  const Point c = box.centre();
  for (const double into : {-0.5, 0.5}) {
    CAPTURE(into);
    CHECK(moved({box.x - 4 + into, c.y}) == (into > 0));
    CHECK(moved({box.right() + 4 - into, c.y}) == (into > 0));
    CHECK(moved({c.x, box.y - 4 + into}) == (into > 0));
    CHECK(moved({c.x, box.bottom() + 4 - into}) == (into > 0));
  }
}

TEST_CASE("an annotation may lie beside its plot by rounding", "[phase0][plot]") {
  const Axes axes{{50, 50, 300, 200}, {0, 300, false}, {0, 200, false}};
  const auto drawn = [&](double x, double y) {
    Canvas canvas(400, 300, 1);
    draw_annotations(canvas, axes, {{x, y, "words"}}, {});
    return texts(canvas, Role::note).size() == 1;
  };
  for (const double beside : {0.4, 0.6}) {
    CHECK(drawn(300 + beside, 100) == (beside < 0.5));
    CHECK(drawn(-beside, 100) == (beside < 0.5));
    CHECK(drawn(150, 200 + beside) == (beside < 0.5));
    CHECK(drawn(150, -beside) == (beside < 0.5));
  }
}

}  // namespace
}  // namespace tapestry::plot
