// The models of step 26 from any seed: layers without feed-forward parts, with a causal mask.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

// Before training. d_k: the width of a head; 0: d_model / heads.
inline Transformer task_model(const TinyTask& task, Initializer initializer, std::uint64_t seed,
                              Index layers = 2, Index heads = 4, Index d_k = 0) {
  Random random(seed);
  return Transformer({.vocab_size = task.vocabulary().size(),
                      .max_length = 16,
                      .num_heads = heads,
                      .num_layers = layers,
                      .has_feed_forward = false,
                      .d_k = d_k,
                      .initializer = initializer},
                     random);
}

// Trains it on rows of the task's training part, which the seed draws, and returns the loss of each
// step. `what` begins the line of progress; "": none.
inline std::vector<double> teach(const Transformer& model, const TinyTask& task, std::uint64_t seed,
                                 Index steps, const std::string& what) {
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
  return train(adam, loss_of_step, options).losses;
}

// A trained model; seed 1 is that of step 26.
inline Transformer trained_on(const TinyTask& task, Initializer initializer, std::uint64_t seed,
                              Index steps, const std::string& what = "training") {
  Transformer model = task_model(task, initializer, 41 + seed);
  teach(model, task, seed, steps, what);
  return model;
}

}  // namespace tapestry
