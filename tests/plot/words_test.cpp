// Every kind of picture, read from its list: the words are there, whole, apart from each other, in
// order, and at what they name.
#include "plot/words.hpp"

#include <algorithm>
#include <limits>

#include "catch.hpp"
#include "plot/snapshot.hpp"
#include "tapestry/plot/surface.hpp"

namespace tapestry::plot {
namespace {

using namespace sample;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct Picture {
  std::string name;
  Canvas canvas;
};

Canvas two_panels() {
  Canvas canvas(1100, 460);
  const std::vector<Rect> places = panels(canvas.area().inset(24), 1, 2);
  draw(canvas, places[0], lines(false));
  draw(canvas, places[1], matrix({"a", "b"}, {"a", "b"}));
  return canvas;
}

std::vector<Picture> dot_plots() {
  return {
      {"dots", render(dots({"0", "1", "two words", sentence[4], "4"}, false))},
      {"many dots", render(dots(sample_words("a label that stands ", 14), false))},
      {"dots in narrow columns", render(dots(sample_words("", 60), false), 300)},
      {"rows of dots", render(dots(sentence, true))},
      {"many rows of dots", render(dots(sample_words("a label that lies ", 40), true), 480, 300)}};
}

// A new kind of picture joins these.
std::vector<Picture> every_picture() {
  Heatmap grey = matrix(sentence, {"a", "b", "c"});
  grey.masked.assign(18, false);
  grey.masked[4] = true;
  grey.values[7] = none;
  std::vector<Picture> pictures{
      {"heatmap", render(matrix(sentence, sentence))},
      {"heatmap with gaps", render(grey)},
      {"small heatmap", render(matrix(sentence, sentence), Size{360, 380}, 1)},
      {"strip", render(matrix({sentence[4]}, sample_words("word", 20)))},
      {"numbered heatmap", render(indices(40, 70))},
      {"means of blocks", render(indices(1500, 30))},
      {"grid", render(grid({"a", "b", "c", sentence[4]}))},
      {"small grid", render(grid(sentence), 40)},
      {"lines", render(lines(false))},
      {"logarithmic lines", render(lines(true))},
      {"bars", render(bars({"0", "1", "two words", "3"}))},
      {"many bars", render(bars(sample_words("a label that stands ", 14)))},
      {"flow", render(flow())},
      {"diagram", render(diagram(Direction::right))},
      {"diagram downwards", render(diagram(Direction::down))},
      {"two panels", two_panels()}};
  for (const Picture& picture : dot_plots()) pictures.push_back(picture);
  for (const double turn : {0.0, 30.0, 100.0, 200.0, 310.0}) {
    pictures.push_back({"landscape " + std::to_string(turn),
                        render_surface(matrix(sentence, {"a", "b", "c"}), {turn, 35})});
  }
  return pictures;
}

TEST_CASE("words of every picture are whole, apart, and begin with its title", "[phase1][plot]") {
  for (const Picture& picture : every_picture()) {
    CAPTURE(picture.name);
    CHECK(trouble(picture.canvas) == "");
    const std::vector<Text> all_texts = all<Text>(picture.canvas);
    REQUIRE(!all_texts.empty());
    CHECK(all_texts.front().words == "Weights of one head");
    CHECK(all_texts.front().role == Role::title);
    CHECK(std::all_of(all_texts.begin(), all_texts.end(),
                      [](const Text& text) { return text.role != Role::other; }));
  }
}

TEST_CASE("words that are cut off or lie on others are found", "[phase0][plot]") {
  const auto seen = [](Point second, double angle) {
    Canvas canvas(200, 100, 1);
    canvas.text({20, 50}, "first", {20});
    canvas.text(second, "second", {.size = 20, .angle = angle});
    return trouble(canvas);
  };
  CHECK(seen({80, 50}, 0) == "");
  CHECK(seen({55, 50}, 0) == "second lies on first");
  CHECK(seen({20, 70}, 0) == "");
  CHECK(seen({20, 60}, 0) == "second lies on first");
  CHECK(seen({100, 90}, 45) == "");
  CHECK(seen({45, 85}, 45) == "second lies on first");
  CHECK(seen({150, 50}, 0) == "second is cut off");
  CHECK(seen({80, 97}, 0) == "second is cut off");
  CHECK(seen({120, 30}, 90) == "second is cut off");
  Canvas canvas(200, 100, 1);
  canvas.set_clip(Rect{0, 0, 50, 100});
  canvas.text({20, 50}, "first", {20});
  CHECK(trouble(canvas) == "first is cut off");
}

}  // namespace
}  // namespace tapestry::plot
