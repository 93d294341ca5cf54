// See snapshot.hpp for what these tests are worth.
#include <limits>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "tapestry/plot/diagram.hpp"
#include "tapestry/plot/flow.hpp"

namespace tapestry::plot {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// Boxes of all kinds, with a link past two layers.
Diagram head() {
  Diagram d;
  d.title = "From words to an output, one head";
  d.subtitle = "with shapes";
  d.add({"input x", {"6 × 64"}, Thumbnail{2, 3, {-1, 0.5, none, 2, 0, -2}}});
  d.add({"Q = x W_Q", {"6 × 64", "and more"}});
  d.add({"K", {}, Thumbnail{3, 80, sample_values(240), ColourMap::blues}, {30, 40, 90}});
  d.add({"", {"no title"}, {}, {255, 244, 230}});
  d.add({"weights", {}, Thumbnail{40, 4, sample_values(160, 3, 9), ColourMap::viridis, 0, 12}});
  d.add({"", {}, Thumbnail{1, 1, {0}}});
  d.connect(0, 1, "W_Q");
  d.connect(0, 2, "a longer label");
  d.connect(0, 3);
  d.connect(1, 4);
  d.connect(2, 4, "softmax");
  d.connect(3, 5);
  d.connect(4, 5);
  d.connect(0, 5, "residual");
  d.arrows[7].dashed = true;
  return d;
}

// Wide layers whose links cross, with sources that are used late.
Diagram tangle() {
  Diagram d;
  for (const std::string& name : sample_words("n", 16)) d.add({name});
  const std::size_t links[][2] = {{0, 4},   {0, 7},   {1, 6},  {1, 4},  {2, 5},   {3, 4},
                                  {4, 9},   {5, 8},   {6, 8},  {7, 10}, {6, 10},  {8, 11},
                                  {9, 12},  {10, 11}, {2, 12}, {1, 13}, {13, 14}, {11, 14},
                                  {12, 14}, {0, 14},  {15, 14}};
  for (const auto& link : links) d.connect(link[0], link[1]);
  return d;
}

// Four layers of seven, of which each box is joined to two of the next.
Diagram weave() {
  Diagram d;
  for (const std::string& name : sample_words("n", 28)) d.add({name});
  for (std::size_t i = 0; i < 21; ++i) {
    const std::size_t next = 7 * (i / 7 + 1);
    d.connect(i, next + (3 * i + i / 7 + 1) % 7);
    d.connect(i, next + (i * i + 2) % 7);
  }
  return d;
}

TEST_CASE("diagrams look as they did", "[phase1][plot]") {
  Diagram d = head();
  check_snapshot("diagram", 0x236135D61E932D85u, render(d, 1));
  d.direction = Direction::down;
  check_snapshot("diagram downwards", 0xD2678F9F57E81BB1u, render(d, 1));
  Canvas canvas(320, 200, 1);
  draw(canvas, {10, 5, 300, 190}, head());
  check_snapshot("small diagram", 0xB7CE7EFEC9E6F960u, canvas);
  check_snapshot("tangle", 0xBDC36DE7BA424992u, render(tangle(), 0.6));
  check_snapshot("weave", 0x5FE9E67268F1ED2Cu, render(weave(), 0.6));
  Diagram one;
  one.add({"alone"});
  one.title = "A title that is wider than the one box below it, and wider than 420";
  check_snapshot("one box", 0xDDF6B259F33267C5u, render(one, 1));
}

TEST_CASE("flows look as they did", "[phase3][plot]") {
  const std::vector<std::string> words{"the", "cat", "sat", " on",
                                       "internationalisation of all things"};
  Flow flow{words, words, sample_values(25), 0.4, "Flow", "of attention"};
  check_snapshot("flow", 0xEF7608BC404024BAu, render(flow, 480, 1));
  flow.weights[3] = flow.weights[11] = none;
  flow.keys = {"a", "b", "c"};
  flow.weights.resize(15);
  flow.threshold = 0.25;
  flow.title = flow.subtitle = "";
  check_snapshot("shorter keys", 0xF439D7E6CA9953A9u, render(flow, 420, 1));
  Canvas canvas(300, 220, 1);
  draw(canvas, {5.5, 3.2, 290, 210},
       Flow{{"a", "b", "c", "d", "e", "f"}, {"a", "b"}, sample_values(12), 0.15});
  check_snapshot("flow in an area", 0x6BD7F221D62700ADu, canvas);
  const Flow two{{"a", "b"}, {"a", "b"}, {1, 0, 0.1, 0.9}, 0.15};
  check_snapshot("flow 330", 0x71A47216D29F71BBu, render(two, 330, 1));
  check_snapshot("flow 290", 0xA91E6764C8DAABFAu, render(two, 290, 1));
  check_snapshot("flow 250", 0xEE3361DB38E6668Au, render(two, 250, 1));
  const auto many = sample_words("w", 55);
  std::vector<double> weights(55 * 20, 0.01);
  for (std::size_t i = 0; i < 55; ++i) weights[i * 20 + i * 7 % 20] = 0.5;
  check_snapshot("many words", 0xCAEE569D388831DCu,
                 render(Flow{many, sample_words("k", 20), weights, 0.15}, 360, 1));
  check_snapshot("some words", 0xFBF9193AF4D5EF89u,
                 render(Flow{sample_words("q", 13), {"k"}, sample_values(13), 0.15}, 300, 1));
}

}  // namespace
}  // namespace tapestry::plot
