// The learning rate of each step, counted from 1: for TrainingOptions.learning_rate, or for
// Optimizer::set_learning_rate.
//
//   const auto rate = [](Index step) {
//     return cosine_schedule(step, {.peak = 3e-3, .warmup_steps = 100, .steps = 2000});
//   };
//   train(adam, loss_of_step, {.steps = 2000, .learning_rate = rate});
//
// Each begins with a warm-up of `warmup_steps` steps, a line up to the peak: peak * step /
// warmup_steps. All throw Error for a step below 1 and for an option out of its range.
#pragma once

#include "tapestry/tensor.hpp"

namespace tapestry {

struct ConstantScheduleOptions {
  double peak = 1e-3;
  Index warmup_steps = 0;  // at least 0
};

// The peak, from step `warmup_steps` on.
[[nodiscard]] double constant_schedule(Index step, const ConstantScheduleOptions& options);

struct ScheduleOptions {
  double peak = 1e-3;
  double floor = 0;        // in 0 .. peak
  Index warmup_steps = 0;  // at least 0 and below `steps`
  Index steps = 1000;      // until the floor, at least 1
};

// In a straight line from the peak down to the floor, which it has from step `steps` on.
[[nodiscard]] double linear_schedule(Index step, const ScheduleOptions& options);

// Half a cosine wave from the peak down to the floor, which it has from step `steps` on (Loshchilov
// & Hutter 2017, without restarts).
[[nodiscard]] double cosine_schedule(Index step, const ScheduleOptions& options);

struct OneCycleScheduleOptions {
  double peak = 1e-2;
  double start = 4e-4;       // in floor .. peak
  double floor = 0;          // at least 0
  Index warmup_steps = 450;  // at least 1, and at most steps / 2
  Index steps = 1000;
};

// Up in a line from `start` to the peak in `warmup_steps` steps, down to `start` in as many, and
// from there down to the floor, which it has from step `steps` on: one cycle, with a rate at its
// top that would be too high to stay at (Smith & Topin 2018).
[[nodiscard]] double one_cycle_schedule(Index step, const OneCycleScheduleOptions& options);

// d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5): up in a line for `warmup_steps` steps,
// then down as 1 / sqrt(step) (Vaswani et al. 2017, equation 3). It is highest at step =
// warmup_steps, where it is 1 / sqrt(d_model * warmup_steps). Throws Error if any of the three is
// below 1.
[[nodiscard]] double inverse_square_root_schedule(Index step, Index d_model, Index warmup_steps);

}  // namespace tapestry
