// See snapshot.hpp for what these tests are worth.
#include <limits>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "tapestry/plot/canvas.hpp"

namespace tapestry::plot {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr Colour blue{0, 90, 200}, glass{220, 40, 0, 120};

void shapes(Canvas& canvas) {
  canvas.fill_rect({-3.3, 4.2, 20.5, 9.7}, blue);
  canvas.fill_rect({10.25, 8.5, 22, 14}, glass, 5);
  canvas.fill_rect({88.6, 70.3, 40, 40}, blue, 50);
  canvas.stroke_rect({40.5, 3.5, 25, 16}, {theme::ink, 1.5}, 4);
  canvas.stroke_rect({70, 5, 24, 13}, {glass, 3, 6});
  const Point star[] = {{20, 30}, {32, 62}, {4, 42}, {36, 40}, {8, 60}};
  canvas.fill_polygon(star, glass);
  const Point outside[] = {{-20, 70}, {30, 75}, {25, 110}, {-30, 90}};
  canvas.fill_polygon(outside, blue);
  canvas.fill_circle({52.3, 40.8}, 9.4, blue);
  canvas.stroke_circle({52.3, 40.8}, 13, {theme::ink, 0.5});
  canvas.stroke_circle({97, 45}, 9, {blue, 2, 5});
  canvas.fill_circle({none, 3}, 5, blue);
}

void strokes(Canvas& canvas) {
  canvas.line({-10, -5}, {130, 104}, {glass, 2.4});
  canvas.line({3, 90}, {60, 60}, {theme::ink, 0.4});
  canvas.line({30, 95}, {30, 95}, {blue, 6});
  const Point path[] = {{5, 20}, {30, 70}, {none, 0}, {60, 10}, {75, 64}, {112, 20}};
  canvas.polyline(path, {blue, 1.7});
  canvas.polyline(path, {theme::ink, 1.2, 7});
  canvas.curve({4, 5}, {60, 0}, {20, 90}, {110, 80}, {theme::ink, 1});
  canvas.arrow({60, 90}, {100, 66}, {blue, 2});
  canvas.arrow({20, 8}, {23, 8}, {blue, 1}, 12);
  canvas.arrow_head({80, 80}, {80, 96}, glass, 14);
}

void texts(Canvas& canvas) {
  TextStyle style{12, theme::ink};
  const auto vertical = {VerticalAlign::top, VerticalAlign::middle, VerticalAlign::baseline,
                         VerticalAlign::bottom};
  double x = 2;
  for (const VerticalAlign align : vertical) {
    style.vertical = align;
    canvas.text({x, 20}, "Hgf", style);
    x += 28;
  }
  style.vertical = VerticalAlign::baseline;
  for (const Align align : {Align::left, Align::centre, Align::right}) {
    style.align = align;
    canvas.text({60, 34 + 10.0 * static_cast<int>(align)}, "AVAToT", style);
    style.bold = !style.bold;
  }
  style = {11, blue};
  canvas.text({2, 72}, "d_model W_Q √d_k a__b x_9z_0 A_ z_A", style);
  style.subscripts = false;
  canvas.text({2, 86}, "d_model 世 \x01 −0.5 · ö _a", style);
  style = {13, glass, true, Align::centre, VerticalAlign::middle, 30};
  canvas.text({90, 60}, "turned", style);
  style.angle = -90;
  canvas.text({8, 50}, "down", style);
}

TEST_CASE("canvases look as they did", "[phase0][plot]") {
  const auto drawn = [](void (*draw)(Canvas&), double scale, Colour paper) {
    Canvas canvas(116, 98, scale, paper);
    draw(canvas);
    return canvas;
  };
  constexpr Colour clear{255, 255, 255, 0};
  check_snapshot("shapes", 0xFEAB556C5C6B6C2Fu, drawn(shapes, 1, white));
  check_snapshot("strokes", 0xCEE6CDDFDF8CC669u, drawn(strokes, 1, clear));
  check_snapshot("texts", 0xBDCEA688DAF2C793u, drawn(texts, 1, white));
  check_snapshot("large shapes", 0x499793ECC58B9B37u, drawn(shapes, 2.3, clear));
  check_snapshot("large strokes", 0xE4432A9DACBD181Bu, drawn(strokes, 2.3, white));
  check_snapshot("large texts", 0x1933A01897B24B0Du, drawn(texts, 2.3, clear));
}

TEST_CASE("clipped canvases look as they did", "[phase0][plot]") {
  Canvas canvas(116, 98, 1.5);
  canvas.set_clip(Rect{9.7, 12.2, 80.5, 60});
  shapes(canvas);
  canvas.set_clip(Rect{30, 30, 60, 100});
  strokes(canvas);
  canvas.set_clip(Rect{-5, 50, 60, 40});
  texts(canvas);
  canvas.set_clip(Rect{70, 20, -10, 40});
  shapes(canvas);
  canvas.set_clip(std::nullopt);
  canvas.fill_circle({110, 90}, 10, blue);
  check_snapshot("clipped", 0x2EF2314838B43C5Cu, canvas);
}

}  // namespace
}  // namespace tapestry::plot
