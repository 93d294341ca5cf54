#include "tapestry/plot/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "tapestry/error.hpp"

namespace tapestry::plot {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The inked area in pixels: black on white, so the missing light counts.
double inked_area(const Canvas& canvas) {
  double area = 0;
  for (const Colour c : canvas.pixels()) area += (255 - c.g) / 255.0;
  return area;
}

bool is_blank(const Canvas& canvas) { return inked_area(canvas) == 0; }

TEST_CASE("the canvas has width times scale pixels of paper", "[phase0][plot]") {
  const Canvas canvas(10.2, 7, 2, {1, 2, 3});
  CHECK(canvas.pixel_width() == 21);
  CHECK(canvas.pixel_height() == 14);
  CHECK(canvas.pixel(20, 13) == Colour{1, 2, 3});
  for (const double bad : {0.0, -3.0, 32769.0, 1e9, not_a_number}) {
    CHECK(contains(words_of_error([&] { Canvas(bad, 5, 1); }), "1 to 32768 pixels"));
    CHECK(contains(words_of_error([&] { Canvas(5, bad, 1); }), "1 to 32768 pixels"));
  }
  CHECK(contains(words_of_error([] { Canvas(-5, -5, -1); }), "1 to 32768 pixels"));
  CHECK(Canvas(32768, 1, 1).pixel_width() == 32768);
  CHECK(Canvas(1, 32768, 1).pixel_height() == 32768);
  for (const auto& at : {std::pair{-1, 0}, {0, -1}, {0, 14}, {21, 0}}) {
    CHECK(
        contains(words_of_error([&] { (void)canvas.pixel(at.first, at.second); }), "lies outside"));
  }
}

TEST_CASE("a billionth of a pixel more is rounding", "[phase0][plot]") {
  const Canvas wide(10 + 1.2e-9, 7 + 0.8e-9, 1), high(10 + 0.8e-9, 7 + 1.2e-9, 1);
  CHECK(wide.pixel_width() == 11);
  CHECK(wide.pixel_height() == 7);
  CHECK(high.pixel_width() == 10);
  CHECK(high.pixel_height() == 8);
}

TEST_CASE("an arrow without a length leaves no ink", "[phase0][plot]") {
  Canvas canvas(20, 20, 1);
  canvas.arrow({10, 10}, {10, 10}, {black, 2});
  canvas.arrow_head({5, 5}, {5, 5}, black);
  CHECK(is_blank(canvas));
}

TEST_CASE("what cannot be seen keeps the colour below", "[phase0][plot]") {
  Canvas canvas(4, 4, 1, {9, 8, 7, 0});
  canvas.fill_rect({0, 0, 4, 4}, {200, 100, 50, 0});
  CHECK(canvas.pixel(1, 1) == Colour{9, 8, 7, 0});
}

TEST_CASE("a rectangle covers partly touched pixels by their share", "[phase0][plot]") {
  Canvas canvas(6, 4, 1);
  canvas.fill_rect({1.25, 1, 2.5, 2}, black);
  CHECK(canvas.pixel(0, 1) == white);
  CHECK(canvas.pixel(1, 1) == Colour{64, 64, 64});
  CHECK(canvas.pixel(2, 2) == black);
  CHECK(canvas.pixel(3, 1) == Colour{64, 64, 64});
  CHECK(canvas.pixel(2, 3) == white);
}

TEST_CASE("filled shapes ink their exact area, with grey edges", "[phase0][plot]") {
  Canvas triangle(40, 40, 1);
  const Point corners[] = {{3.3, 2.1}, {36.2, 9.7}, {12.9, 35.5}};
  triangle.fill_polygon(corners, black);
  const double exact = 0.5 * std::abs((36.2 - 3.3) * (35.5 - 2.1) - (12.9 - 3.3) * (9.7 - 2.1));
  CHECK(std::abs(inked_area(triangle) - exact) < 0.6);
  Canvas disc(50, 50, 1);
  disc.fill_circle({25.3, 24.6}, 20, black);
  CHECK(std::abs(inked_area(disc) - std::numbers::pi * 400) < 4);
  int grey = 0;
  for (const Colour c : disc.pixels()) grey += c.g > 0 && c.g < 255 ? 1 : 0;
  CHECK(grey > 100);
  Canvas rounded(40, 30, 1);
  rounded.fill_rect({5, 5, 30, 20}, black, 6);
  CHECK(std::abs(inked_area(rounded) - (600 - (4 - std::numbers::pi) * 36)) < 1.5);
}

TEST_CASE("winding decides: opposite contours cut holes", "[phase0][plot]") {
  Canvas canvas(20, 20, 1);
  canvas.text({2, 18}, "O", {22, black});
  const int middle = 2 + static_cast<int>(measure_text("O", {22}).width / 2);
  CHECK(canvas.pixel(middle, 10) == white);
  CHECK(has_ink(decode_png(canvas), 3, 8, 8, 12));
}

TEST_CASE("lines have their width, crisp on whole pixels", "[phase0][plot]") {
  Canvas canvas(40, 20, 1);
  canvas.line({5, 10}, {35, 10}, {black, 4});
  CHECK(canvas.pixel(20, 7) == white);
  CHECK(canvas.pixel(20, 8) == black);
  CHECK(canvas.pixel(20, 11) == black);
  CHECK(canvas.pixel(20, 12) == white);
  CHECK(canvas.pixel(3, 9) != white);  // the round cap
  CHECK(canvas.pixel(1, 9) == white);
  Canvas slanted(60, 60, 1);
  slanted.line({10, 12}, {50, 44}, {black, 3});
  const double length = std::hypot(40, 32);
  CHECK(std::abs(inked_area(slanted) - (3 * length + std::numbers::pi * 2.25)) < 3);
}

TEST_CASE("a line that comes from beyond the border is as wide there as inside", "[phase0][plot]") {
  const Point low{10, -10}, high{10, 30}, left{-10, 10}, right{30, 10};
  for (const auto& [from, to] : {std::pair(low, high), std::pair(high, low), std::pair(left, right),
                                 std::pair(right, left)}) {
    CAPTURE(from.x, from.y);
    Canvas canvas(20, 20, 1);
    canvas.line(from, to, {black, 8});
    CHECK(inked_area(canvas) == 8 * 20);
  }
  Canvas beside(20, 20, 1);
  beside.line({2, -1}, {18, -1}, {black, 3});  // half a unit of it is on the paper
  CHECK(beside.pixel(10, 0) == Colour{128, 128, 128});
  CHECK(beside.pixel(10, 1) == white);
}

TEST_CASE("a line of one point is a dot", "[phase0][plot]") {
  Canvas line(20, 20, 1), dot(20, 20, 1);
  const Point point[] = {{9, 7}};
  line.polyline(point, {black, 6});
  dot.line({9, 7}, {9, 7}, {black, 6});
  CHECK(inked_area(line) > 20);
  CHECK(std::equal(line.pixels().begin(), line.pixels().end(), dot.pixels().begin()));
}

TEST_CASE("a dashed line inks about half of the full one", "[phase0][plot]") {
  Canvas full(220, 10, 2), dashed(220, 10, 2);
  full.line({10, 5}, {210, 5}, {black, 1.5});
  dashed.line({10, 5}, {210, 5}, {black, 1.5, 5});
  const double share = inked_area(dashed) / inked_area(full);
  CHECK(share > 0.4);
  CHECK(share < 0.6);
  Canvas fine(220, 10, 1), whole(220, 10, 1);  // dashes of less than a pixel
  fine.line({10, 5}, {210, 5}, {black, 0.2, 0.9});
  whole.line({10, 5}, {210, 5}, {black, 0.2});
  CHECK(inked_area(fine) < 0.99 * inked_area(whole));
}

TEST_CASE("overlapping pieces of one translucent line do not add up", "[phase0][plot]") {
  Canvas canvas(40, 40, 1);
  const Point points[] = {{5, 20}, {20, 20}, {35, 20}, {20, 20}, {20, 5}};
  canvas.polyline(points, {{0, 0, 0, 128}, 4});
  CHECK(canvas.pixel(20, 20) == canvas.pixel(10, 20));
}

TEST_CASE("an arrow ends with its tip and a wide head", "[phase0][plot]") {
  Canvas canvas(60, 20, 2);
  canvas.arrow({5, 10}, {50, 10}, {black, 1}, 10);
  CHECK(canvas.pixel(98, 20) != white);
  CHECK(canvas.pixel(101, 20) == white);
  CHECK(canvas.pixel(83, 14) != white);  // the head is wide at its back
  CHECK(canvas.pixel(60, 14) == white);
}

TEST_CASE("a curve passes through its ends and stays inside its control points", "[phase0][plot]") {
  const std::vector<Point> points = curve_points({0, 0}, {10, 0}, {10, 10}, {20, 10}, 10);
  REQUIRE(points.size() == 11);
  CHECK(points.front() == Point{0, 0});
  CHECK(points.back() == Point{20, 10});
  CHECK(std::abs(points[5].x - 10) < 1e-12);
  CHECK(std::abs(points[5].y - 5) < 1e-12);
}

TEST_CASE("drawing is cut off at the border and at the clip rectangle", "[phase0][plot]") {
  Canvas canvas(20, 20, 1);
  canvas.fill_circle({0, 0}, 1e7, {200, 0, 0});
  CHECK(canvas.pixel(19, 19) == Colour{200, 0, 0});
  canvas.line({-1e12, 10}, {1e12, 10}, {black, 2});
  CHECK(canvas.pixel(10, 10) == black);
  canvas.text({-300, 500}, "far away", {12, black});
  canvas.set_clip(Rect{5, 5, 4, 4});
  canvas.fill_rect({0, 0, 20, 20}, white);
  canvas.fill_circle({10, 10}, 30, white);
  CHECK(canvas.pixel(5, 5) == white);
  CHECK(canvas.pixel(8, 8) == white);
  CHECK(canvas.pixel(9, 8) == Colour{200, 0, 0});
  CHECK(canvas.pixel(4, 5) == Colour{200, 0, 0});
  canvas.set_clip(Rect{0, 0, 2, 2});
  canvas.fill_rect({0, 0, 20, 20}, white);
  CHECK(canvas.pixel(0, 0) == white);
  CHECK(canvas.pixel(2, 1) == Colour{200, 0, 0});
}

TEST_CASE("coordinates that are no numbers leave no ink", "[phase0][plot]") {
  Canvas canvas(20, 20, 1);
  const double infinity = std::numeric_limits<double>::infinity();
  canvas.fill_rect({not_a_number, 0, 5, 5}, black);
  canvas.fill_circle({5, infinity}, 3, black);
  canvas.fill_circle({5, 5}, not_a_number, black);
  canvas.line({0, 0}, {infinity, 5}, {black, 2});
  canvas.line({0, 0}, {9, not_a_number}, {black, 2, 4});
  canvas.line({5, not_a_number}, {6, not_a_number}, {black, 2});
  canvas.arrow({0, 0}, {not_a_number, 5}, {black, 2});
  canvas.text({not_a_number, 5}, "x", {12, black});
  canvas.text({5, 5}, "x", {not_a_number, black});
  canvas.fill_rect({5, 5, -2, 3}, black);
  CHECK(is_blank(canvas));
}

TEST_CASE("sizes below zero and beyond all bounds leave no ink", "[phase0][plot]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Canvas canvas(20, 20, 1);
  for (const Rect& rect : {Rect{15, 5, -10, 10}, Rect{5, 15, 10, -10}, Rect{15, 15, -10, -10}}) {
    canvas.fill_rect(rect, black, 3);
    canvas.set_clip(rect);
    canvas.fill_rect({0, 0, 20, 20}, black);
    canvas.fill_circle({10, 10}, 5, black);
    canvas.line({0, 0}, {20, 20}, {black, 3});
    canvas.set_clip(std::nullopt);
  }
  for (const double bad : {not_a_number, infinity}) {
    canvas.set_clip(Rect{bad, bad, bad, bad});
    canvas.fill_rect({0, 0, 20, 20}, black);
    canvas.set_clip(std::nullopt);
  }
  canvas.fill_circle({10, 10}, infinity, black);
  canvas.fill_circle({10, 10}, 1e300, {0, 0, 0, 0});
  for (const double bad : {not_a_number, infinity, -infinity}) {
    for (const double radius : {-3.0, 0.0, 3.0, not_a_number}) {
      for (const Rect& rect : {Rect{15, 5, bad, 10}, Rect{5, bad, 10, 10}, Rect{bad, 5, 10, 10}}) {
        canvas.fill_rect(rect, black, radius);
        canvas.stroke_rect(rect, {black, 1}, radius);
      }
    }
  }
  CHECK(is_blank(canvas));
  canvas.stroke_rect({15, 5, -10, 10}, {black, 1}, 3);  // its four sides, without round corners
  CHECK_FALSE(is_blank(canvas));
}

TEST_CASE("text is inked inside its measured box, however aligned and turned", "[phase0][plot]") {
  const std::string text = "Høst 0.17 × √d";
  for (const Align align : {Align::left, Align::centre, Align::right}) {
    for (const double angle : {0.0, 90.0}) {
      Canvas canvas(240, 240, 1);
      TextStyle style{16, black, false, align, VerticalAlign::middle, angle};
      canvas.text({120, 120}, text, style);
      const double width = measure_text(text, style).width;
      CHECK(width > 100);
      const double start = align == Align::left ? 0 : align == Align::centre ? -width / 2 : -width;
      const Decoded picture = decode_png(canvas);
      const auto ink = [&](double from, double to, int half) {  // along the text
        const int a = static_cast<int>(from), b = static_cast<int>(to);
        return angle == 0 ? has_ink(picture, 120 + a, 120 - half, 120 + b, 120 + half)
                          : has_ink(picture, 120 - half, 120 - b, 120 + half, 120 - a);
      };
      CHECK(ink(start, start + 10, 8));
      CHECK(ink(start + width - 10, start + width, 8));
      CHECK_FALSE(ink(-120, start - 1, 119));
      CHECK_FALSE(ink(start + width + 2, 119, 119));
      Canvas inside = canvas;  // nothing far above or below the line either
      const Rect line{0, 120 - 14.0, 240, 28}, column{120 - 14.0, 0, 28, 240};
      inside.fill_rect(angle == 0 ? line : column, white);
      CHECK(is_blank(inside));
    }
  }
}

TEST_CASE("vertical alignment moves the text as it says", "[phase0][plot]") {
  const auto top_row = [](VerticalAlign vertical) {
    Canvas canvas(40, 80, 1);
    canvas.text({5, 40}, "H", {20, black, false, Align::left, vertical});
    for (int row = 0; row < 80; ++row) {
      for (int column = 0; column < 40; ++column) {
        if (canvas.pixel(column, row).g < 128) return row;
      }
    }
    return -1;
  };
  // Capitals of DejaVu Sans are 0.729 em high; ascent 0.928, descent 0.236 (hhea table).
  CHECK(std::abs(top_row(VerticalAlign::baseline) - (40 - 14.6)) <= 1);
  CHECK(std::abs(top_row(VerticalAlign::middle) - (40 - 7.3)) <= 1);
  CHECK(std::abs(top_row(VerticalAlign::top) - (40 + 18.6 - 14.6)) <= 1);
  CHECK(std::abs(top_row(VerticalAlign::bottom) - (40 - 4.7 - 14.6)) <= 1);
}

TEST_CASE("the typeface has the signs that lessons need", "[phase0][plot]") {
  const auto drawn = [](const std::string& sign) {
    Canvas canvas(30, 30, 1);
    canvas.text({5, 22}, sign, {20, black});
    return std::vector<Colour>(canvas.pixels().begin(), canvas.pixels().end());
  };
  const auto missing = drawn("\xF4\x8F\xBF\xBF");  // U+10FFFF: no typeface has it
  for (const char* sign : {"√", "·", "×", "≥", "≤", "ᵀ", "∞", "✓", "✗", "−", "→", "α", "β",
                           "∂", "∇", "⁻", "³", "₂", "…", "␣", "↵", "⇥", "Σ", "ε", "é", "ß"}) {
    CAPTURE(sign);
    CHECK(drawn(sign) != missing);
    CHECK(drawn(sign) != drawn(" "));
  }
  CHECK(drawn("\x1F") == drawn(" "));  // the last control character
  CHECK(drawn("\x1F|") == drawn("|"));
}

TEST_CASE("broken UTF-8 is drawn as a replacement, not dropped or fatal", "[phase0][plot]") {
  for (const std::string text : {"\xFF", "a\xC3", "\xE2\x82", "\xED\xA0\x80", "\xC0\xAF"}) {
    CHECK(measure_text(text, {10}).width > 5);
  }
  CHECK(measure_text("", {10}).width == 0);
}

TEST_CASE("a subscript follows a single letter and an underscore only", "[phase0][plot]") {
  TextStyle plain{20}, set{20};
  plain.subscripts = false;
  CHECK(measure_text("d_k", set).width < measure_text("d_k", plain).width);
  CHECK(measure_text("√d_model = 8", set).width < measure_text("√d_model = 8", plain).width);
  for (const std::string sign : {"0", "9", "A", "Z", "a", "z"}) {
    CAPTURE(sign);
    CHECK(measure_text("d_" + sign, set).width < measure_text("d_" + sign, plain).width);
    const std::string before = sign + "_k";
    CHECK((measure_text(before, set).width < measure_text(before, plain).width) == (sign > "9"));
  }
  for (const char* name : {"d_/", "d_:", "d_@", "d_[", "d_`", "d_{", "@_k", "[_k", "`_k", "{_k"}) {
    CHECK(measure_text(name, set).width == measure_text(name, plain).width);
  }
  for (const char* name : {"pad_mask", "_", "a_", "_b", "d__k", "2_3"}) {
    CHECK(measure_text(name, set).width == measure_text(name, plain).width);
  }
}

TEST_CASE("bold text is wider, and long text is shortened to fit", "[phase0][plot]") {
  CHECK(measure_text("weights", {12, black, true}).width > measure_text("weights", {12}).width);
  const std::string fitted = fit_text("internationalisation", 60, {12});
  CHECK(measure_text(fitted, {12}).width <= 60);
  CHECK(fitted.substr(0, 5) == "inter");
  CHECK(fitted.substr(fitted.size() - 3) == "…");
  CHECK(fit_text("short", 60, {12}) == "short");
  CHECK(fit_text("short", measure_text("short", {12}).width, {12}) == "short");
  CHECK(fit_text("internationalisation", measure_text("inter…", {12}).width, {12}) == "inter…");
  CHECK(measure_text("x", {10}).height == Approx(11.64).epsilon(1e-3));  // ascent and descent
}

}  // namespace
}  // namespace tapestry::plot
