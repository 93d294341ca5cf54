// How the models of step 55 learn, under masks that hide more than the future.
#pragma once

#include <cstdint>

#include "course/letters_before.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/training.hpp"

namespace tapestry::masked_runs {

constexpr Index length = 32, letters = 8;  // letters of a text; different ones

// Random letters, and of each place the letter `distance` places before it, or -1 where there is
// none. Both (rows, length).
inline Batch letters_back(Index distance, Index rows, Random& random) {
  const Indices read = random_letters(letters, rows, length, random);  // (rows, length)
  return {read, letters_before(read, distance), {}};
}

// Trains a model whose places see what the mask shows; draw(random) makes the batch of a step.
template <class Draw>
void learn(const Transformer& model, const Mask& mask, const Draw& draw, Index steps) {
  Adam adam(model.parameters());
  const ScheduleOptions rates{.peak = 1e-2, .floor = 1e-2 / 30, .warmup_steps = 20, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random data(2, static_cast<std::uint64_t>(step));
    const Batch batch = draw(data);                                  // (texts, places)
    return cross_entropy(model(batch.inputs, mask), batch.targets);  // (texts, places, words)
  };
  const auto rate = [&](Index step) { return cosine_schedule(step, rates); };
  train(adam, loss_of_step, {.steps = steps, .learning_rate = rate, .what = ""});
}

}  // namespace tapestry::masked_runs
