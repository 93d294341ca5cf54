#include "tapestry/training.hpp"

#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/tape.hpp"
#include "training/steps.hpp"

namespace tapestry {
namespace {

// Repeats a failed step with all values kept, to find the reason.
std::string cause(const Parameters& parameters, const LossOfStep& loss_of_step, Index step) {
  Tape tape(parameters, Tape::Keep::values);
  const Tensor loss = loss_of_step(step);
  const Gradients gradients = tape.backward(loss);
  const std::string first = tape.first_non_finite();
  if (!first.empty()) return first;
  if (std::isfinite(loss.item()) && std::isfinite(gradient_norm(gradients))) {
    return "run again, the step has no such number, so loss_of_step depends on more than the step";
  }
  return "no single operation made it: finite numbers overflowed together";
}

// "loss 1.234 (guessing 4.605)"; without a baseline (0), the loss alone.
std::string loss_note(double loss, double baseline_loss) {
  const std::string text = formatted("loss %.3f", loss);
  return baseline_loss == 0 ? text : text + formatted(" (guessing %.3f)", baseline_loss);
}

MadeStep make_step(Optimizer& optimizer, const LossOfStep& loss_of_step, Index step,
                   const TrainingOptions& options) {
  Tape tape(optimizer.parameters());
  const Tensor loss = loss_of_step(step);
  Gradients gradients = tape.backward(loss);
  MadeStep made{.loss = double{loss.item()}};
  const auto stop = [&] {
    stop_at(step, made.loss, cause(optimizer.parameters(), loss_of_step, step));
  };
  if (!std::isfinite(made.loss)) stop();
  try {
    made.gradient_norm = clip_gradient_norm(gradients, options.max_norm);
  } catch (const Error&) {
    stop();
  }
  if (options.learning_rate) optimizer.set_learning_rate(options.learning_rate(step));
  optimizer.step(gradients);
  return made;
}

}  // namespace

void check_training(const TrainingOptions& options) {
  const auto refuse = [](const std::string& problem) { throw Error("train: " + problem); };
  if (options.steps < 0) {
    refuse("steps is " + std::to_string(options.steps) + ": it must be 0 or more.");
  }
  if (!(options.max_norm > 0)) {
    refuse("max_norm is " + exact_text(options.max_norm) +
           ": it must be above 0; infinity to leave gradients as they are.");
  }
  if (options.tokens < 0) {
    refuse("tokens is " + std::to_string(options.tokens) +
           ": it must be the number of tokens of a step, or 0 for steps per second.");
  }
  if (!std::isfinite(options.baseline_loss)) {
    refuse("baseline_loss is " + exact_text(options.baseline_loss) +
           ": it must be finite, or 0 for none.");
  }
}

void stop_at(Index step, double loss, const std::string& cause) {
  const char* const what = std::isnan(loss)   ? "the loss is NaN"
                           : std::isinf(loss) ? "the loss is infinite"
                                              : "a gradient is not finite";
  throw Error("train: step " + std::to_string(step) + ": " + what + ": " + cause +
              ". The weights are as they were before this step.");
}

Training make_steps(const Optimizer& optimizer, const TrainingOptions& options, bool shown,
                    const std::function<MadeStep(Index step)>& make) {
  const ProgressOptions line{.done = optimizer.steps(), .tokens = options.tokens};
  Progress progress(options.what, options.steps, "steps", line);
  Training training{.first_step = optimizer.steps() + 1};
  for (Index step = training.first_step; step <= options.steps; ++step) {
    const MadeStep made = make(step);
    training.losses.push_back(made.loss);
    training.gradient_norms.push_back(made.gradient_norm);
    if (shown && !options.what.empty()) {
      progress.step(loss_note(made.loss, options.baseline_loss));
    }
    if (options.after_step) options.after_step(step, made.loss);
  }
  training.seconds = progress.seconds();
  return training;
}

Training train(Optimizer& optimizer, const LossOfStep& loss_of_step,
               const TrainingOptions& options) {
  if (!loss_of_step) throw Error("train: there is no function to make the loss.");
  check_training(options);
  return make_steps(optimizer, options, true,
                    [&](Index step) { return make_step(optimizer, loss_of_step, step, options); });
}

}  // namespace tapestry
