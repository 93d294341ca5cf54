#include "course/valley.hpp"

#include "catch.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

TEST_CASE("a valley is lowest at its goal, and the same after a turn", "[phase0][course]") {
  const Tensor from({1, 2}, {0.8, -1});
  const Valley straight(30, false, from), turned(30, true, from);
  CHECK(straight.loss(straight.goal).item() == 0);
  CHECK(turned.loss(turned.goal).item() == 0);
  CHECK(straight.start.values() == from.values());
  CHECK(straight.goal.values() == Tensor::ones({2}).values());
  CHECK(turned.loss(turned.start).item() ==
        Approx(straight.loss(straight.start).item()).epsilon(1e-5));
  // 0.2 and 2 from the goal, along inputs of deviation 2 and 2 / 30: 0.16 + 0.018 on average
  CHECK(straight.loss(straight.start).item() == Approx(0.178).epsilon(0.15));
}

TEST_CASE(
    "a valley is steeper along one weight, about by the square of the ratio, a turned one "
    "along none",
    "[phase0][course]") {
  for (const bool is_turned : {false, true}) {
    const Valley valley(10, is_turned);
    double rise[2] = {};
    for (Index i = 0; i < 2; ++i) {
      Tensor w = valley.goal.clone();  // (2)
      w.set({i}, w.at({i}) + 1);
      rise[i] = double{valley.loss(w).item()};
    }
    CAPTURE(is_turned);
    CHECK(rise[0] / rise[1] > (is_turned ? 0.8 : 70));
    CHECK(rise[0] / rise[1] < (is_turned ? 1.25 : 130));
  }
}
