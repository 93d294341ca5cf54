#include "tapestry/plot/diagram.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "catch.hpp"
#include "plot/decoded.hpp"
#include "plot/layers.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

// The flow of attention: V skips two layers.
Diagram flow() {
  Diagram d;
  const auto x = d.add({"input", {"6 × 64"}});
  const auto q = d.add({"Q", {"6 × 64"}}), k = d.add({"K", {"6 × 64"}}),
             v = d.add({"V", {"6 × 64"}});
  const auto s = d.add({"scores", {"6 × 6"}}), w = d.add({"weights", {"6 × 6"}});
  const auto o = d.add({"output", {"6 × 64"}});
  d.connect(x, q, "W_Q");
  d.connect(x, k, "W_K");
  d.connect(x, v, "W_V");
  d.connect(q, s);
  d.connect(k, s);
  d.connect(s, w, "softmax");
  d.connect(w, o);
  d.connect(v, o);
  return d;
}

TEST_CASE("boxes are layered along the arrows and never overlap", "[phase1][plot]") {
  for (const Direction direction : {Direction::right, Direction::down}) {
    Diagram d = flow();
    d.direction = direction;
    const Size size = layout(d);
    for (const Arrow& arrow : d.arrows) {
      const Rect from = d.boxes[arrow.from].frame, to = d.boxes[arrow.to].frame;
      CHECK((direction == Direction::right ? to.x - from.right() : to.y - from.bottom()) > 20);
    }
    for (std::size_t i = 0; i < d.boxes.size(); ++i) {
      const Rect frame = d.boxes[i].frame;
      CHECK(frame.x >= -1e-9);
      CHECK(frame.y >= -1e-9);
      CHECK(frame.right() <= size.width + 1e-9);
      CHECK(frame.bottom() <= size.height + 1e-9);
      CHECK(frame.width == box_size(d.boxes[i]).width);
      for (std::size_t k = 0; k < i; ++k) CHECK_FALSE(frame.inset(-4).overlaps(d.boxes[k].frame));
    }
  }
}

TEST_CASE("arrows go around boxes, even past several layers", "[phase1][plot]") {
  Diagram d = flow();
  d.connect(0, 6, "residual");
  const Size size = layout(d);
  for (const Arrow& arrow : d.arrows) {
    REQUIRE(arrow.path.size() > 2);
    CHECK(std::abs(arrow.path.front().x - d.boxes[arrow.from].frame.right()) < 1e-9);
    CHECK(std::abs(arrow.path.back().x - (d.boxes[arrow.to].frame.x - 2)) < 1e-9);
    for (const Point p : arrow.path) {
      CHECK(Rect{0, 0, size.width, size.height}.contains(p));
      for (const Box& box : d.boxes) CHECK_FALSE(box.frame.inset(0.5).contains(p));
    }
  }
}

TEST_CASE("a layout settles: boxes alone in their layer stand level", "[phase1][plot]") {
  Diagram d;
  for (const char* name : {"a", "b", "c", "d"}) d.add({name});
  d.connect(0, 1);
  d.connect(1, 2);
  d.connect(2, 3);
  layout(d);
  for (const Box& box : d.boxes) CHECK(std::abs(box.frame.y - d.boxes[0].frame.y) < 1e-6);
}

TEST_CASE("a plan is as large as its nodes, however small", "[phase1][plot]") {
  const LayerPlan one = place_in_layers({{0.5, 0.25}}, {}, {}, 4, 2);
  CHECK(one.along == 0.5);
  CHECK(one.across == 0.25);
  const LayerPlan two = place_in_layers({{0.5, 0.25}, {0.25, 0.5}}, {{0, 1}}, {0}, 0.125, 2);
  CHECK(two.along == 0.875);
  CHECK(two.across == 0.5);
}

TEST_CASE("a node without links stays where it is", "[phase1][plot]") {
  // 0 -> 1, which is tall, and 4 -> 2 below it move apart; 3 was in their middle
  const LayerPlan plan = place_in_layers({{20, 20}, {20, 200}, {20, 20}, {20, 20}, {20, 20}},
                                         {{0, 1}, {4, 2}}, {0, 0}, 10, 5);
  const auto across = [&](std::size_t i) { return plan.nodes[i].across; };
  CHECK(std::abs(across(0) - across(1)) < 1);
  CHECK(std::abs(across(4) - across(2)) < 1);
  CHECK(across(4) - across(0) > 100);
  CHECK(std::abs(across(3) - (across(0) + across(4)) / 2) < 1);
}

TEST_CASE("a diagram is drawn whole, with thumbnails in their colours", "[phase1][plot]") {
  Diagram d = flow();
  d.title = "From words to output";
  d.subtitle = "one head";
  Thumbnail image{1, 2, {-1, 1}};
  d.boxes[0].thumbnail = image;
  const Decoded picture = decode_png(render(d));
  CHECK(has_clean_border(picture));
  for (const Colour colour : {colour_at(ColourMap::blue_orange, 0),
                              colour_at(ColourMap::blue_orange, 1), d.boxes[0].fill}) {
    CHECK(std::count(picture.pixels.begin(), picture.pixels.end(), colour) > 100);
  }
  Canvas small(300, 160);
  draw(small, small.area().inset(8), d);
  CHECK(has_clean_border(decode_png(small)));
  const auto bytes = [&] { return decode_png(render(d)).pixels; };
  CHECK(bytes() == picture.pixels);
}

TEST_CASE("a long chain and a wide layer are laid out without delay", "[phase1][plot]") {
  Diagram d;
  for (int i = 0; i < 60; ++i) d.add({"n" + std::to_string(i)});
  for (std::size_t i = 1; i < 30; ++i) d.connect(i - 1, i);
  for (std::size_t i = 30; i < 59; ++i) d.connect(i, 59);
  const Size size = layout(d);
  CHECK(std::isfinite(size.width));
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t k = 0; k < i; ++k) CHECK_FALSE(d.boxes[i].frame.overlaps(d.boxes[k].frame));
  }
}

TEST_CASE("cells of a thumbnail have a least size", "[phase1][plot]") {
  Box box;
  box.thumbnail = Thumbnail{400, 1, std::vector<double>(400)};
  CHECK(box_size(box).height == 400 * 0.5 + 22);
  CHECK(box_size(box).width == 54);
  box.thumbnail = Thumbnail{1, 400, std::vector<double>(400)};
  CHECK(box_size(box).height == 8 + 22);
  CHECK(box_size(box).width == 400 * 0.5 + 24);
}

TEST_CASE("a thumbnail has the colours of its values, from 0 to 1 or further", "[phase1][plot]") {
  const auto check_shares = [](const Thumbnail& image, const std::vector<double>& shares) {
    Diagram d;
    d.add({"", {}, image});
    const Cells cells = all<Cells>(render(d)).at(0);
    REQUIRE(cells.colours.size() == shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      CHECK(cells.colours[i] == colour_at(image.colours, shares[i]));
    }
  };
  check_shares({1, 2, {0.25, 0.5}, ColourMap::blues}, {0.25, 0.5});
  check_shares({1, 2, {0.75, 1.5}, ColourMap::blues}, {0.5, 1});
  check_shares({1, 3, {-0.5, 0, 0.5}, ColourMap::blues}, {0, 0.5, 1});
  check_shares({1, 3, {-0.5, 0, 0.25}}, {0, 0.5, 0.75});
  check_shares({1, 2, {-0.25, 0.5}}, {0.25, 1});
  check_shares({1, 2, {1, 3}, ColourMap::blues, 2, 2}, {0.5, 0.5});
}

TEST_CASE("the picture of a small diagram is 240 wide without its rim", "[phase1][plot]") {
  Diagram one;
  one.add({"alone"});
  CHECK(render(one).width() == 240 + 2 + 2 * 24);
  CHECK(render(one).height() == box_size(one.boxes[0]).height + 2 + 2 * 24);
}

TEST_CASE("a layer is as deep as its deepest node, however many links pass", "[phase1][plot]") {
  const Size small{0.5, 0.25};
  const LayerPlan plan =
      place_in_layers({small, small, small}, {{0, 1}, {1, 2}, {0, 2}}, {0, 0, 0}, 4, 2);
  CHECK(plan.layer_depth == std::vector<double>{0.5, 0.5, 0.5});
  REQUIRE(plan.passes.size() == 3);
  REQUIRE(plan.passes[2].size() == 1);
  CHECK(plan.passes[2][0].layer == 1);
  CHECK(std::abs(plan.passes[2][0].across - plan.nodes[1].across) >= 6.125 + 2 - 1e-9);
}

TEST_CASE("a single crossing is undone, and a link alone runs straight", "[phase1][plot]") {
  const Size box{20, 10};
  const LayerPlan plan = place_in_layers({box, box, box, box}, {{0, 3}, {1, 2}}, {0, 0}, 10, 5);
  CHECK(plan.nodes[3].across < plan.nodes[2].across);
  CHECK(plan.nodes[3].across == Approx(plan.nodes[0].across));
  CHECK(plan.nodes[2].across == Approx(plan.nodes[1].across));
}

TEST_CASE("a diagram says what is wrong with it", "[phase1][plot]") {
  Diagram empty;
  CHECK(contains(words_of_error([&] { layout(empty); }), "no boxes"));
  Diagram one;
  one.add({"alone"});
  CHECK_FALSE(decode_png(render(one)).pixels.empty());
  CHECK(contains(words_of_error([&] { one.connect(0, 5); }), "joins boxes 0 and 5"));
  for (const auto& [from, to] : {std::pair{0u, 1u}, {1u, 0u}}) {
    Diagram alone;
    alone.add({"alone"});
    CHECK(contains(words_of_error([&, f = from, t = to] { alone.connect(f, t); }),
                   "there are only 1 boxes"));
  }
  one.add({"in company"});  // a refused arrow is none
  one.connect(0, 1);
  CHECK(one.arrows.size() == 1);
  CHECK_FALSE(decode_png(render(one)).pixels.empty());
  Diagram circle;
  circle.add({"a"});
  circle.add({"b"});
  circle.connect(0, 1);
  circle.connect(1, 0);
  CHECK(contains(words_of_error([&] { layout(circle); }), "form a cycle"));
  Diagram self;
  self.add({"a"});
  self.connect(0, 0);
  CHECK(contains(words_of_error([&] { layout(self); }), "form a cycle"));
  Diagram thumbnail;
  thumbnail.add({"W", {}, Thumbnail{2, 2, {1, 2, 3}}});
  CHECK(contains(words_of_error([&] { layout(thumbnail); }), "2 x 2 but has 3 values"));
  thumbnail.boxes[0].thumbnail = Thumbnail{0, 3, {}};
  CHECK(contains(words_of_error([&] { layout(thumbnail); }), "is 0 x 3 but has 0 values"));
  thumbnail.boxes[0].thumbnail = Thumbnail{3, 0, {}};
  CHECK(contains(words_of_error([&] { layout(thumbnail); }), "is 3 x 0 but has 0 values"));
  thumbnail.boxes[0].thumbnail = Thumbnail{std::int64_t{1} << 32, std::int64_t{1} << 32, {}};
  CHECK(contains(words_of_error([&] { layout(thumbnail); }), "\"W\": 4294967296 x 4294967296"));
}

}  // namespace
}  // namespace tapestry::plot
