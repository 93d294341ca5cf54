#include "plot/end_labels.hpp"

#include "catch.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

constexpr Colour red{200, 0, 0};

Canvas drawn(const std::vector<Point>& ends, Colour colour = red) {
  Canvas canvas(300, 200, 1);
  std::vector<EndLabel> labels;
  for (const Point end : ends) labels.push_back({"name", end, colour});
  draw_end_labels(canvas, {10, 20, 150, 100}, labels);
  return canvas;
}

TEST_CASE("names at the ends of lines need room for the widest, and a gap", "[phase6][plot]") {
  CHECK(end_label_room({}) == 10);
  CHECK(end_label_room({{"a", red}, {"wide", red}, {"b", red}}) ==
        10 + measure_text("wide", {12}).width);
}

TEST_CASE("a name is joined to the end of its line where it is far from it", "[phase6][plot]") {
  const auto joined = [](const std::vector<Point>& ends) {
    return all<Polyline>(drawn(ends)).size();
  };
  CHECK(joined({{160, 50}}) == 0);
  CHECK(joined({{156, 50}}) == 0);
  CHECK(joined({{155.5, 50}}) == 1);
  CHECK(joined({{160, 50}, {160, 57}}) == 0);  // moved apart by 4 each
  CHECK(joined({{160, 50}, {160, 56}}) == 2);  // by 4.5
  const Canvas canvas = drawn({{155.5, 50}});
  const Polyline line = all<Polyline>(canvas).at(0);
  CHECK(line.points == std::vector<Point>{{160.5, 50}, {168, 50}});
  CHECK(line.stroke.width == 0.8);
  CHECK(line.stroke.colour == mix(red, theme::paper, 0.4));
  const Text name = texts(canvas, Role::legend).at(0);
  CHECK(name.at == Point{170, 50});
  CHECK(name.words == "name");
  CHECK(name.style.size == 12);
  CHECK_FALSE(name.style.bold);
}

TEST_CASE("names stand 15 apart, and end with the plot", "[phase6][plot]") {
  const std::vector<Text> names = texts(drawn({{160, 119}, {160, 118}, {160, 30}}), Role::legend);
  CHECK(names.at(0).at.y == 120);
  CHECK(names.at(1).at.y == 105);
  CHECK(names.at(2).at.y == 30);
  CHECK(apart({-5, 30}, 10, -50, 100) == std::vector<double>{-5, 30});
}

TEST_CASE("a name is darkened by small steps until it can be read", "[phase6][plot]") {
  const auto colour = [](Colour line) {
    return texts(drawn({{160, 50}}, line), Role::legend).at(0).style.colour;
  };
  CHECK(colour(red) == red);
  CHECK(colour({250, 160, 60}) == Colour{151, 104, 54});  // by 9 steps of 0.05
}

}  // namespace
}  // namespace tapestry::plot
