// What train() and train_in_parts() share: all but how one step is made.
#pragma once

#include <functional>
#include <string>

#include "tapestry/training.hpp"

namespace tapestry {

struct MadeStep {
  double loss = 0, gradient_norm = 0;
};

// Throws Error for steps or max_norm that cannot be.
void check_training(const TrainingOptions& options);

// The steps that are left up to options.steps, with what is due after each. `shown`: with a
// progress line, if options.what is not empty.
Training make_steps(const Optimizer& optimizer, const TrainingOptions& options, bool shown,
                    const std::function<MadeStep(Index step)>& make);

// A step's loss or gradients are not finite; `cause` says why.
[[noreturn]] void stop_at(Index step, double loss, const std::string& cause);

}  // namespace tapestry
