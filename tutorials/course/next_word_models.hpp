// The decoder of step 43 from any seed.
#pragma once

#include <cstdint>

#include "course/next_word_rows.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

// Trained on rows of the training part, of a vocabulary that has the grammar's words; seed 1 is
// that of step 43, with 400 steps.
inline Transformer trained_decoder(const Vocabulary& vocabulary, std::uint64_t seed,
                                   Index steps = 400) {
  Random random(seed);
  Transformer model({.vocab_size = vocabulary.size(), .max_length = 8}, random);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = steps};
  options.what = "";
  options.learning_rate = [&](Index step) {
    return cosine_schedule(step, {.peak = 3e-3, .warmup_steps = 50, .steps = steps});
  };
  const auto loss_of_step = [&](Index step) {
    Random data(seed + 1, static_cast<std::uint64_t>(step));
    const Batch batch = next_word_rows(vocabulary, Part::train, 64, data);  // (64, 7)
    return cross_entropy(model(batch.inputs), batch.targets);  // (), of logits (64, 7, vocabulary)
  };
  train(adam, loss_of_step, options);
  return model;
}

}  // namespace tapestry
