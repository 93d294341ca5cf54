// The models of step 26 from any seed: two layers without feed-forward parts, with a causal mask.
#pragma once

#include <cstdint>

#include "course/tasks.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

// Before training.
inline Transformer task_model(const TinyTask& task, Initializer initializer, std::uint64_t seed) {
  Random random(seed);
  return Transformer({.vocab_size = task.vocabulary().size(),
                      .max_length = 16,
                      .num_heads = 4,
                      .has_feed_forward = false,
                      .initializer = initializer},
                     random);
}

// Trained on rows of the task's training part; seed 1 is that of step 26. `what` begins the line of
// progress; "": none.
inline Transformer trained_on(const TinyTask& task, Initializer initializer, std::uint64_t seed,
                              Index steps, const char* what = "training") {
  Transformer model = task_model(task, initializer, 41 + seed);
  Adam adam(model.parameters());
  const ScheduleOptions rate = {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps};
  TrainingOptions options{.steps = steps};
  options.what = what;
  options.learning_rate = [&](Index step) { return cosine_schedule(step, rate); };
  const auto loss_of_step = [&](Index step) {
    Random of_step(seed, static_cast<std::uint64_t>(step));
    const Batch b = task.batch(Part::train, 64, of_step);  // (64, length)
    return cross_entropy(model(b.inputs), b.targets);      // (), of logits (64, length, vocabulary)
  };
  train(adam, loss_of_step, options);
  return model;
}

}  // namespace tapestry
