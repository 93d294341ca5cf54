// The heads of step 23 from any seed: one layer that guesses hidden words of the grammar.
#pragma once

#include <cstdint>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

// So many random sentences, with hidden words, of a vocabulary that has the grammar's words:
// (rows, 6).
inline Batch hidden_word_batch(const Vocabulary& vocabulary, Index rows, Random& random) {
  std::vector<Words> texts;
  for (Index i = 0; i < rows; ++i) texts.push_back(Grammar().sentence(random).words);
  return masked_lm_batch(vocabulary, texts, random);
}

// Four heads, trained. Seed 42 is that of step 23, with 1500 steps; others differ from it in the
// weights at the start only.
inline Transformer trained_heads(const Vocabulary& vocabulary, std::uint64_t seed,
                                 Index steps = 1500) {
  Random random(seed);
  Transformer model({.vocab_size = vocabulary.size(),
                     .max_length = 6,
                     .num_heads = 4,
                     .num_layers = 1,
                     .has_feed_forward = false,
                     .is_causal = false},
                    random);
  Adam adam(model.parameters());
  const ScheduleOptions rate = {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random drawn(1, static_cast<std::uint64_t>(step));
    const Batch b = hidden_word_batch(vocabulary, 64, drawn);  // (64, 6)
    return cross_entropy(model(b.inputs), b.targets);          // (), of logits (64, 6, vocabulary)
  };
  TrainingOptions options{.steps = steps};
  options.what = "";
  options.learning_rate = [&](Index step) { return cosine_schedule(step, rate); };
  train(adam, loss_of_step, options);
  return model;
}

}  // namespace tapestry
