// Titles and legends.
#include "plot/frame.hpp"

#include "catch.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

TEST_CASE("text is broken where a line would become wider than its room", "[phase0][plot]") {
  const TextStyle style{12};
  const double room = measure_text("ab cd", style).width;
  CHECK(wrap("ab cd ef", room, style) == Names{"ab cd", "ef"});
  CHECK(wrap("ab cd ef", room - 0.01, style) == Names{"ab", "cd ef"});
  CHECK(wrap(" ", room, style).empty());
}

TEST_CASE("a title takes its lines and a gap, and nothing without words", "[phase0][plot]") {
  CHECK(title_height("", "", 100) == 0);
  CHECK(title_height(" ", "", 100) == 0);
  CHECK(title_height("a", "", 100) == Approx(1.3 * 17 + 12));
  CHECK(title_height("", "b", 100) == Approx(1.3 * 12 + 12));
  CHECK(title_height("a", "b", 100) == Approx(1.3 * (17 + 12) + 12));
  CHECK(title_height("wide words", "b", 60) == Approx(1.3 * (2 * 17 + 12) + 12));
}

TEST_CASE("an entry that is wider than the legend begins at its top", "[phase0][plot]") {
  Canvas canvas(100, 100, 1);
  CHECK(draw_legend(canvas, {0, 0, 10, 100}, {{"name", black}}).y == 20 + 8);
}

TEST_CASE("no texts have no width", "[phase0][plot]") {
  CHECK(widest({}, {12}) == 0);
  CHECK(widest({"i", "mm", "m"}, {12}) == measure_text("mm", {12}).width);
}

}  // namespace
}  // namespace tapestry::plot
