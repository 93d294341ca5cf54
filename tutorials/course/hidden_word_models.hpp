// The models of step 52 from any seed: they guess hidden words in texts of three sentences.
#pragma once

#include <cstdint>
#include <string>

#include "course/hidden_word_rows.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

inline constexpr Index hidden_word_sentences = 3, hidden_word_length = 6 * hidden_word_sentences;

// Before training: attention only, of a vocabulary that has the grammar's words.
inline Transformer hidden_word_model(const Vocabulary& vocabulary, Index layers, bool causal,
                                     std::uint64_t seed) {
  Random random(seed);
  return Transformer({.vocab_size = vocabulary.size(),
                      .max_length = hidden_word_length,
                      .d_model = 32,
                      .num_heads = 4,
                      .num_layers = layers,
                      .has_feed_forward = false,
                      .is_causal = causal},
                     random);
}

// Trains it on texts that the seed draws. `what` begins the line of progress; "": none.
inline void learn_hidden_words(const Transformer& model, const Vocabulary& vocabulary,
                               std::uint64_t seed, const std::string& what = "",
                               Index steps = 1000) {
  Adam adam(model.parameters());
  const ScheduleOptions rates{.peak = 1e-2, .floor = 1e-4, .warmup_steps = 50, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random random(seed, static_cast<std::uint64_t>(step));
    const Batch b = hidden_word_rows(vocabulary, hidden_word_sentences, 16, random);  // (16, 18)
    return cross_entropy(model(b.inputs), b.targets);  // (), of logits (16, 18, vocabulary)
  };
  TrainingOptions options{.steps = steps};
  options.what = what;
  options.learning_rate = [&](Index step) { return cosine_schedule(step, rates); };
  train(adam, loss_of_step, options);
}

}  // namespace tapestry
