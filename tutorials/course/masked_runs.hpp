// What the masks of step 55, which hide more than the future, let two layers see, and how models
// learn under them.
#pragma once

#include <cstdint>

#include "course/grammar.hpp"
#include "course/letters_before.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/mask.hpp"
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

// Can the letter `distance` places back arrive at the last place? One layer passes on what its mask
// shows, so two pass on what the product of their masks shows.
inline bool in_reach(const Mask& mask, Index distance) {
  const Tensor one = mask.tensor({length, length});                     // (length, length)
  return matmul(one, one).at({length - 1, length - 1 - distance}) > 0;  // of (length, length)
}

// Trains a model whose places see what the mask shows; draw(random) makes the batch of a step, and
// `texts` is the seed of `random`.
template <class Draw>
void learn(const Transformer& model, const Mask& mask, const Draw& draw, Index steps,
           std::uint64_t texts = 2) {
  Adam adam(model.parameters());
  const ScheduleOptions rates{.peak = 1e-2, .floor = 1e-2 / 30, .warmup_steps = 20, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random data(texts, static_cast<std::uint64_t>(step));
    const Batch batch = draw(data);                                  // (texts, places)
    return cross_entropy(model(batch.inputs, mask), batch.targets);  // (texts, places, words)
  };
  const auto rate = [&](Index step) { return cosine_schedule(step, rates); };
  train(adam, loss_of_step, {.steps = steps, .learning_rate = rate, .what = ""});
}

// The share of new letters said right, by a model of two layers trained to look so far back.
inline double share_right(const Mask& mask, Index distance, std::uint64_t seed,
                          std::uint64_t texts = 2, Index steps = 220) {
  Random random(seed), data(99);
  const Transformer model({.vocab_size = letters,
                           .max_length = length,
                           .d_model = 32,
                           .num_heads = 2,
                           .num_layers = 2,
                           .has_feed_forward = false,
                           .initializer = init::lecun_normal},
                          random);
  const auto draw = [&](Random& of_step) { return letters_back(distance, 8, of_step); };
  learn(model, mask, draw, steps, texts);
  const Batch test = letters_back(distance, 32, data);      // (32, length)
  return accuracy(model(test.inputs, mask), test.targets);  // logits (32, length, letters)
}

// The loss on new sentences of the grammar, where links are short, of a model trained on others.
inline double loss_on_sentences(const Mask& mask, std::uint64_t seed, std::uint64_t texts = 2) {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  Random random(seed), data(99);
  const Transformer model(
      {.vocab_size = vocabulary.size(), .max_length = 7, .d_model = 32, .num_heads = 2}, random);
  const auto draw = [&](Random& of_step) { return grammar.batch(vocabulary, 32, of_step); };
  learn(model, mask, draw, 200, texts);
  const Batch test = grammar.batch(vocabulary, 500, data);  // (500, 7)
  return double{cross_entropy(model(test.inputs, mask), test.targets).item()};
}

}  // namespace tapestry::masked_runs
