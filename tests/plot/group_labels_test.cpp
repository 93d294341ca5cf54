#include "plot/group_labels.hpp"

#include <utility>

#include "catch.hpp"
#include "plot/frame.hpp"
#include "plot/words.hpp"

namespace tapestry::plot {
namespace {

const TextStyle style{type::label};

TEST_CASE("labels of groups are broken into three lines at most, or stand upright",
          "[phase0][plot]") {
  const double word = measure_text("mm", style).width;
  const Names three{"i", "mm mm mm"}, four{"mm mm mm mm", "i"};
  const GroupLabels level = group_labels(three, word + 8.01);
  CHECK_FALSE(level.upright);
  CHECK(level.lines == std::vector<Names>{{"i"}, {"mm", "mm", "mm"}});
  CHECK(level.height == 8 + 3 * 17);
  CHECK(level.pitch == word + 8.01);
  CHECK(group_labels({""}, 50).height == 8);
  for (const auto& [labels, pitch] : {std::pair{three, word + 7.9}, {four, word + 8.01}}) {
    const GroupLabels upright = group_labels(labels, pitch);
    CHECK(upright.upright);
    CHECK(upright.lines == std::vector<Names>{{labels[0]}, {labels[1]}});
    CHECK(upright.height == 14 + widest(labels, style));
    CHECK(upright.pitch == pitch);
  }
}

TEST_CASE("upright labels are cut where they become wider than 130", "[phase0][plot]") {
  const double longest = widest_cut([](const std::string& label) {
    return measure_text(group_labels({label}, 10).lines[0][0], style).width;
  });
  CHECK(longest <= 130);
  CHECK(longest > 129.5);
}

TEST_CASE("of upright labels as many are written as do not touch", "[phase0][plot]") {
  GroupLabels labels{{{"a"}, {"b"}, {"c"}, {"d"}}, true, 1.15 * type::label, 40};
  const auto drawn = [&] {
    Canvas canvas(200, 100, 1);
    draw_group_labels(canvas, {10, 20}, labels);
    return texts(canvas, Role::x_tick);
  };
  REQUIRE(drawn().size() == 4);
  CHECK(drawn()[1].at.x == Approx(10 + 1.5 * labels.pitch));
  CHECK(drawn()[1].at.y == 27);
  CHECK(drawn()[1].style.angle == 90);
  labels.pitch -= 0.1;
  REQUIRE(drawn().size() == 2);
  CHECK(drawn()[1].words == "c");
}

}  // namespace
}  // namespace tapestry::plot
