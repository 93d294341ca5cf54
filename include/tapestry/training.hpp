// The training loop.
//
//   Adam adam(model.parameters());
//   const auto loss_of_step = [&](Index step) {  // a pure function of the step
//     Random random(seed, step);
//     const Batch batch = draw_batch(random);
//     return cross_entropy(model(batch.ids), batch.targets);
//   };
//   const auto save = [&](Index step, double) {
//     if (step % 100 == 0) save_checkpoint("model.safetensors", model.parameters(), adam);
//   };
//   train(adam, loss_of_step,
//         {.steps = 1000, .tokens = 32 * 64, .baseline_loss = std::log(100), .after_step = save});
//
//   training 400/1000 steps, 61234 tokens/s, 20.1 s left  loss 1.234 (guessing 4.605)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tapestry/optim.hpp"
#include "tapestry/schedules.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The loss of one step, one number. Steps are counted from 1. All random numbers, for data and
// dropout, must come from a Random(seed, step) made here: then a resumed run sees the same data as
// an uninterrupted one, and a failed step can be repeated.
using LossOfStep = std::function<Tensor(Index step)>;

struct TrainingOptions {
  Index steps = 1000;  // train until the optimizer has made this many in all
  std::function<double(Index step)> learning_rate =
      {};               // one of schedules.hpp, say; without one, the optimizer's own
  double max_norm = 1;  // the longest gradient; infinity: never shortened

  std::string what = "training";  // begins the progress line; "": no line
  Index tokens = 0;               // of a step, for the speed; 0: steps per second
  double baseline_loss = 0;       // what guessing blindly would cost, shown beside; 0: not shown

  // Called after each step, to measure, to print, to save a checkpoint; `loss` is that of the
  // weights before the step.
  std::function<void(Index step, double loss)> after_step = {};
};

// The history of a run: one number for each of its steps.
struct Training {
  Index first_step = 1;             // of the lists; more than 1 when an earlier run was resumed
  std::vector<double> losses = {};  // before the step's change of the weights
  std::vector<double> gradient_norms = {};  // before clipping
  double seconds = 0;
};

// Makes steps optimizer.steps() + 1 .. options.steps, each with its learning rate: forward
// pass, backward pass, clipping, update. From the second step on no memory is allocated from the
// system.
//
// The same seed gives the same losses and weights for any number of threads. To resume, load a
// checkpoint (io/checkpoint.hpp) and call train again with the same arguments.
//
// Throws Error when a loss or gradient is NaN or infinite: the step is run once more to find the
// first operation that made one, and the message names it, and the mask where one did it. The
// weights and the optimizer are then as they were before that step. Throws Error for options out
// of range, for a loss that is not one number or does not depend on the optimizer's parameters, and
// passes on what loss_of_step throws.
Training train(Optimizer& optimizer, const LossOfStep& loss_of_step,
               const TrainingOptions& options = {});

}  // namespace tapestry
