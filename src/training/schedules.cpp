#include "tapestry/schedules.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "training/check_option.hpp"

namespace tapestry {
namespace {

void check_count(const char* schedule, const char* name, Index value, Index least) {
  check_option(schedule, name, static_cast<double>(value), value >= least,
               "at least " + std::to_string(least));
}

void check_rate(const char* schedule, const char* name, double rate) {
  check_option(schedule, name, rate, rate >= 0, "0 or more, and finite");
}

double part(Index steps, Index of) { return static_cast<double>(steps) / static_cast<double>(of); }

// From `begin` at step `first` to `end` at step `last`, in a line.
double line(Index step, Index first, double begin, Index last, double end) {
  return begin + (end - begin) * part(step - first, last - first);
}

// What linear and cosine share: `fall` goes from 1 to 0 as its argument goes from 0 to 1.
template <class Fall>
double decay(const char* schedule, Index step, const ScheduleOptions& o, Fall fall) {
  check_count(schedule, "step", step, 1);
  check_count(schedule, "steps", o.steps, 1);
  check_option(schedule, "warmup_steps", static_cast<double>(o.warmup_steps),
               o.warmup_steps >= 0 && o.warmup_steps < o.steps, "0 or more, and below steps");
  check_rate(schedule, "peak", o.peak);
  check_option(schedule, "floor", o.floor, o.floor >= 0 && o.floor <= o.peak, "in 0 .. peak");
  if (step <= o.warmup_steps) return o.peak * part(step, o.warmup_steps);
  const Index fallen = std::min(step, o.steps) - o.warmup_steps;
  return o.floor + (o.peak - o.floor) * fall(part(fallen, o.steps - o.warmup_steps));
}

}  // namespace

double constant_schedule(Index step, const ConstantScheduleOptions& o) {
  check_count("constant_schedule", "step", step, 1);
  check_count("constant_schedule", "warmup_steps", o.warmup_steps, 0);
  check_rate("constant_schedule", "peak", o.peak);
  return step < o.warmup_steps ? o.peak * part(step, o.warmup_steps) : o.peak;
}

double linear_schedule(Index step, const ScheduleOptions& options) {
  return decay("linear_schedule", step, options, [](double way) { return 1 - way; });
}

double cosine_schedule(Index step, const ScheduleOptions& options) {
  return decay("cosine_schedule", step, options,
               [](double way) { return (1 + std::cos(std::numbers::pi * way)) / 2; });
}

double one_cycle_schedule(Index step, const OneCycleScheduleOptions& o) {
  const char* const name = "one_cycle_schedule";
  check_count(name, "step", step, 1);
  check_option(name, "warmup_steps", static_cast<double>(o.warmup_steps),
               o.warmup_steps >= 1 && o.warmup_steps <= o.steps / 2,
               "at least 1, and at most steps / 2");
  check_rate(name, "peak", o.peak);
  check_rate(name, "floor", o.floor);
  check_option(name, "start", o.start, o.start >= o.floor && o.start <= o.peak, "in floor .. peak");
  const Index down = 2 * o.warmup_steps;
  if (step >= o.steps) return o.floor;
  if (step <= o.warmup_steps) return line(step, 0, o.start, o.warmup_steps, o.peak);
  if (step <= down) return line(step, o.warmup_steps, o.peak, down, o.start);
  return line(step, down, o.start, o.steps, o.floor);
}

double inverse_square_root_schedule(Index step, Index d_model, Index warmup_steps) {
  const char* const name = "inverse_square_root_schedule";
  check_count(name, "step", step, 1);
  check_count(name, "d_model", d_model, 1);
  check_count(name, "warmup_steps", warmup_steps, 1);
  const auto s = static_cast<double>(step), w = static_cast<double>(warmup_steps);
  return std::min(1 / std::sqrt(s), s / (w * std::sqrt(w))) /
         std::sqrt(static_cast<double>(d_model));
}

}  // namespace tapestry
