#include "tapestry/schedules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "ops/expect.hpp"

using namespace tapestry;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("the warm-up of the 2017 paper rises in a line and falls with the root of the step",
          "[phase2][optim]") {
  for (const Index step : {1, 2, 3999, 4000, 4001, 100'000}) {
    CAPTURE(step);
    const auto s = static_cast<double>(step);
    const double formula =
        std::pow(512, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(4000, -1.5));
    CHECK(same_number(inverse_square_root_schedule(step, 512, 4000) / formula, 1, 1e-12));
  }
  CHECK(same_number(inverse_square_root_schedule(4000, 512, 4000), 6.98771242968684e-4, 1e-12));
  CHECK(inverse_square_root_schedule(1, 1, 1) == 1);
  CHECK(inverse_square_root_schedule(4, 1, 1) == 0.5);
  CHECK(complaint([] { inverse_square_root_schedule(0, 1, 1); }, {"step is 0", "at least 1"}) ==
        "");
  CHECK(complaint([] { inverse_square_root_schedule(1, 0, 1); }, {"d_model is 0"}) == "");
  CHECK(complaint([] { inverse_square_root_schedule(1, 1, 0); }, {"warmup_steps is 0"}) == "");
}

TEST_CASE("the cosine schedule rises to the peak, falls to the floor and stays there",
          "[phase2][optim]") {
  const ScheduleOptions options = {.peak = 3, .floor = 1, .warmup_steps = 4, .steps = 12};
  const auto rate = [&](Index step) { return cosine_schedule(step, options); };
  CHECK(rate(1) == 0.75);
  CHECK(rate(4) == 3);
  CHECK(cosine_schedule(2, {.peak = 0.9, .floor = 0.2, .warmup_steps = 2, .steps = 9}) == 0.9);
  CHECK(same_number(rate(6), 2 + std::sqrt(0.5), 1e-12));  // an eighth of the wave
  CHECK(same_number(rate(8), 2, 1e-12));
  CHECK(same_number(rate(10), 2 - std::sqrt(0.5), 1e-12));
  CHECK(rate(12) == 1);
  CHECK(rate(1000) == 1);
  CHECK(same_number(cosine_schedule(1, {.peak = 1, .steps = 2}), 0.5, 1e-12));
  CHECK(cosine_schedule(1, {.peak = 1, .floor = 0.25, .steps = 1}) == 0.25);
}

TEST_CASE("a cosine schedule refuses options out of range, by name", "[phase2][optim]") {
  const auto refused = [](Index step, const ScheduleOptions& options,
                          std::initializer_list<const char*> words) {
    return complaint([&] { cosine_schedule(step, options); }, words);
  };
  CHECK(cosine_schedule(1, {.peak = 0, .steps = 9}) == 0);  // all at their ends
  CHECK(cosine_schedule(8, {.peak = 0.5, .floor = 0.5, .warmup_steps = 8, .steps = 9}) == 0.5);
  CHECK(refused(0, {}, {"cosine_schedule: step is 0", "at least 1"}) == "");
  CHECK(refused(1, {.peak = -1}, {"peak is -1"}) == "");
  CHECK(refused(1, {.peak = not_a_number}, {"peak is nan"}) == "");
  CHECK(refused(1, {.peak = 1, .floor = 2}, {"floor is 2", "0 .. peak"}) == "");
  CHECK(refused(1, {.floor = -1}, {"floor is -1"}) == "");
  CHECK(refused(1, {.warmup_steps = -1}, {"warmup_steps is -1"}) == "");
  CHECK(refused(1, {.warmup_steps = 10, .steps = 10}, {"warmup_steps is 10", "below steps"}) == "");
  CHECK(refused(1, {.steps = 0}, {"cosine_schedule: steps is 0"}) == "");
}

TEST_CASE("a constant schedule warms up and stays at its peak", "[phase2][optim]") {
  const ConstantScheduleOptions options = {.peak = 3, .warmup_steps = 4};
  CHECK(constant_schedule(1, options) == 0.75);
  CHECK(constant_schedule(3, options) == 2.25);
  for (const Index step : {4, 5, 1'000'000}) CHECK(constant_schedule(step, options) == 3);
  CHECK(constant_schedule(1, {.peak = 0.5}) == 0.5);
  CHECK(complaint([] { constant_schedule(0, {}); }, {"constant_schedule: step is 0"}) == "");
  CHECK(complaint([] { constant_schedule(1, {.peak = -1}); }, {"peak is -1", "0 or more"}) == "");
  CHECK(complaint([] { constant_schedule(1, {.warmup_steps = -1}); },
                  {"warmup_steps is -1", "at least 0"}) == "");
}

TEST_CASE("a linear schedule goes in two lines, to the peak and to the floor", "[phase2][optim]") {
  const ScheduleOptions options = {.peak = 3, .floor = 1, .warmup_steps = 4, .steps = 12};
  const double by_hand[] = {0.75, 1.5, 2.25, 3, 2.75, 2.5, 2.25, 2, 1.75, 1.5, 1.25, 1, 1};
  for (Index step = 1; step <= 13; ++step) {
    CHECK(same_number(linear_schedule(step, options), by_hand[step - 1], 1e-12));
  }
  CHECK(linear_schedule(5000, options) == 1);
  CHECK(complaint([] { linear_schedule(1, {.peak = 1, .floor = 2}); },
                  {"linear_schedule: floor is 2", "0 .. peak"}) == "");
}

TEST_CASE("one cycle is up, down and out, in three lines", "[phase2][optim]") {
  const OneCycleScheduleOptions options = {
      .peak = 5, .start = 1, .floor = 0.5, .warmup_steps = 4, .steps = 10};
  const double by_hand[] = {2, 3, 4, 5, 4, 3, 2, 1, 0.75, 0.5, 0.5};
  for (Index step = 1; step <= 11; ++step) {
    CHECK(same_number(one_cycle_schedule(step, options), by_hand[step - 1], 1e-12));
  }
  // No way out, where the cycle takes all steps; and of one step up and one down.
  const OneCycleScheduleOptions whole = {
      .peak = 3, .start = 2, .floor = 1, .warmup_steps = 1, .steps = 2};
  CHECK(one_cycle_schedule(1, whole) == 3);
  CHECK(one_cycle_schedule(2, whole) == 1);
  CHECK(one_cycle_schedule(3, {.peak = 2, .start = 2, .floor = 2, .warmup_steps = 2}) == 2);
}

TEST_CASE("one cycle refuses options out of range, by name", "[phase2][optim]") {
  const auto refused = [](const OneCycleScheduleOptions& options,
                          std::initializer_list<const char*> words) {
    return complaint([&] { one_cycle_schedule(1, options); }, words);
  };
  CHECK(complaint([] { one_cycle_schedule(0, {}); }, {"one_cycle_schedule: step is 0"}) == "");
  CHECK(refused({.peak = not_a_number}, {"peak is nan"}) == "");
  CHECK(refused({.start = 1}, {"start is 1", "floor .. peak"}) == "");
  CHECK(refused({.start = 0.1, .floor = 0.2}, {"start is 0.1", "floor .. peak"}) == "");
  CHECK(refused({.floor = -1}, {"floor is -1", "0 or more"}) == "");
  CHECK(refused({.warmup_steps = 0}, {"warmup_steps is 0", "at least 1"}) == "");
  CHECK(refused({.warmup_steps = 501}, {"warmup_steps is 501", "steps / 2"}) == "");
}
