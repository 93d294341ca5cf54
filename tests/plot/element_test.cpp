// The list of what was drawn on a canvas.
#include "tapestry/plot/element.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/paint.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr Colour red{200, 0, 0}, green{0, 150, 0};

TEST_CASE("a canvas lists what was drawn on it, in order", "[phase0][plot]") {
  Canvas canvas(100, 80, 1, red);
  CHECK(canvas.background() == red);
  canvas.fill_rect({1, 2, 3, 4}, green, 2);
  canvas.set_clip(Rect{0, 0, 50, 50});
  canvas.fill_circle({5, 6}, 7, red);
  canvas.line({1, 1}, {2, 2}, {red, 3});
  canvas.set_clip(std::nullopt);
  canvas.text({8, 9}, "words", {20, red}, Role::note);
  canvas.cells({0, 0, 4, 2}, 1, 2, {red, green});
  const auto list = canvas.elements();
  REQUIRE(list.size() == 5);
  const auto rect = std::get<FilledRect>(list[0].what);
  CHECK((rect.rect == Rect{1, 2, 3, 4} && rect.colour == green && rect.corner_radius == 2));
  CHECK_FALSE(list[0].clip);
  CHECK(list[1].clip == Rect{0, 0, 50, 50});
  CHECK(std::get<FilledCircle>(list[1].what).radius == 7);
  CHECK(std::get<Polyline>(list[2].what).points == std::vector<Point>{{1, 1}, {2, 2}});
  CHECK_FALSE(list[3].clip);
  const auto text = std::get<Text>(list[3].what);
  CHECK((text.words == "words" && text.style.size == 20 && text.role == Role::note));
  CHECK(std::get<Cells>(list[4].what).cell(0, 1) == Rect{2, 0, 2, 2});
}

TEST_CASE("what has no size or no place is not in the list", "[phase0][plot]") {
  Canvas canvas(100, 80, 1);
  const Point shape[] = {{1, 1}, {infinity, 2}, {3, 3}};
  canvas.fill_polygon(shape, red);
  canvas.fill_rect({5, 5, 0, 4}, red);
  canvas.fill_rect({5, 5, 4, 0}, red);
  canvas.fill_circle({5, 5}, 0, red);
  canvas.fill_circle({5, infinity}, 1, red);
  canvas.fill_circle({5, 5}, infinity, red);
  canvas.line({0, 0}, {9, 9}, {red, 0});
  canvas.line({0, 0}, {9, 9}, {red, infinity});
  canvas.text({5, 5}, "", {12});
  canvas.text({5, 5}, "x", {0});
  canvas.text({5, 5}, "x", {infinity});
  canvas.text({infinity, 5}, "x", {12});
  canvas.text({5, 5}, "x", {.size = 12, .angle = infinity});
  canvas.stroke_circle({5, 5}, 0, {red, 1});
  CHECK(canvas.elements().empty());
}

TEST_CASE("what is smaller than a unit is in the list", "[phase0][plot]") {
  Canvas canvas(100, 80, 1);
  canvas.fill_circle({5, 5}, 0.5, red);
  canvas.stroke_circle({5, 5}, 0.5, {red, 0.5});
  canvas.text({5, 5}, "x", {0.5});
  canvas.cells({0, 0, 0.5, 9}, 1, 1, {red});
  canvas.cells({0, 0, 9, 0.5}, 1, 1, {red});
  canvas.cells({0, 0, 9, 9}, 0, 3, {});
  canvas.cells({0, 0, 9, 9}, 3, 0, {});
  canvas.set_clip(Rect{0, 0, 0.5, 9});
  canvas.fill_rect({0, 0, 9, 9}, red);
  canvas.set_clip(Rect{0, 0, 9, 0.5});
  canvas.fill_rect({0, 0, 9, 9}, red);
  CHECK(canvas.elements().size() == 9);
}

TEST_CASE("the shaft of an arrow ends inside its head, at its start where the head is longer",
          "[phase0][plot]") {
  Canvas canvas(100, 80, 1);
  canvas.arrow({5, 10}, {55, 10}, {red, 1}, 10);
  canvas.arrow({20, 8}, {23, 8}, {red, 1}, 12);
  const std::vector<Polyline> shafts = all<Polyline>(canvas);
  REQUIRE(shafts.size() == 2);
  CHECK(shafts[0].points[0] == Point{5, 10});
  CHECK(shafts[0].points[1].x == Approx(47));
  CHECK(shafts[1].points == std::vector<Point>{{20, 8}, {20, 8}});
}

TEST_CASE("nothing is drawn where there is no room", "[phase0][plot]") {
  Canvas canvas(100, 80, 1);
  for (const double bad : {0.0, -1.0, none}) {
    canvas.set_clip(Rect{0, 0, bad, 9});
    canvas.fill_rect({0, 0, 9, 9}, red);
    canvas.set_clip(Rect{0, 0, 9, bad});
    canvas.fill_rect({0, 0, 9, 9}, red);
  }
  canvas.set_clip(Rect{none, 0, 9, 9});
  canvas.fill_rect({0, 0, 9, 9}, red);
  canvas.set_clip(std::nullopt);
  for (const Rect& area : {Rect{none, 0, 9, 9}, Rect{0, 0, 0, 9}, Rect{0, 0, 9, infinity}}) {
    canvas.cells(area, 1, 1, {red});
  }
  CHECK(canvas.elements().empty());
  CHECK(std::count(canvas.pixels().begin(), canvas.pixels().end(), white) == 8000);
}

TEST_CASE("the list is all that the pixels are made of", "[phase0][plot]") {
  Heatmap map = sample::matrix(sample::sentence, {"a", "b", "c"});
  map.masked.assign(18, false);
  map.masked[3] = true;
  for (const Canvas& canvas : {render(map), render(sample::lines(false))}) {
    std::vector<Colour> again(canvas.pixels().size(), canvas.background());
    const Pixels pixels{again, canvas.pixel_width(), canvas.pixel_height(), canvas.scale()};
    for (const Element& element : canvas.elements()) paint(pixels, element);
    CHECK(std::vector<Colour>(canvas.pixels().begin(), canvas.pixels().end()) == again);
  }
}

TEST_CASE("cells fill their area without a seam, and are as many as their colours",
          "[phase0][plot]") {
  Canvas canvas(10, 4, 1);
  canvas.cells({1.2, 1, 7, 2}, 1, 3, {red, green, red});  // edges at 1.2, 3.53, 5.87 and 8.2
  for (int column = 0; column < 10; ++column) {
    const Colour wanted = column < 1 || column >= 8   ? white
                          : column >= 4 && column < 6 ? green
                                                      : red;
    CHECK(canvas.pixel(column, 1) == wanted);
    CHECK(canvas.pixel(column, 2) == wanted);
    CHECK(canvas.pixel(column, 0) == white);
    CHECK(canvas.pixel(column, 3) == white);
  }
  canvas.set_clip(Rect{5, 0, 5, 4});
  canvas.cells({0, 0, 10, 4}, 1, 1, {black});
  CHECK(canvas.pixel(4, 1) == green);
  CHECK(canvas.pixel(5, 1) == black);
  CHECK(words_of_error([&] { canvas.cells({0, 0, 9, 9}, 2, 2, {red}); }) ==
        "canvas: 2 x 2 cells need as many colours, but 1 were given");
  CHECK_FALSE(words_of_error([&] { canvas.cells({0, 0, 9, 9}, -1, -1, {red}); }).empty());
}

TEST_CASE("the corners of a text follow its alignment and its angle", "[phase0][plot]") {
  const double width = measure_text("words", {20}).width;
  const auto near = [](Point p, double x, double y) {
    return std::hypot(p.x - x, p.y - y) < 0.02 * 20;
  };
  const double top = -0.729 * 20, bottom = 0.236 * 20;
  const auto left = corners({{50, 40}, "words", {20}});
  CHECK(near(left[0], 50, 40 + top));
  CHECK(near(left[1], 50 + width, 40 + top));
  CHECK(near(left[2], 50 + width, 40 + bottom));
  CHECK(near(left[3], 50, 40 + bottom));
  const auto right = corners({{50, 40}, "words", {.size = 20, .align = Align::right}});
  CHECK(near(right[0], 50 - width, 40 + top));
  const auto turned = corners({{50, 40}, "words", {.size = 20, .angle = 90}});
  CHECK(near(turned[0], 50 + top, 40));
  CHECK(near(turned[2], 50 + bottom, 40 - width));
  const auto middle_one =
      corners({{50, 40}, "words", {.size = 20, .vertical = VerticalAlign::middle}});
  CHECK(near(middle_one[0], 50, 40 + top / 2));
}

}  // namespace
}  // namespace tapestry::plot
