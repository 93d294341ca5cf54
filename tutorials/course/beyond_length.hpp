// What step 61 and its experiment train: small decoders on texts of 16 words, which are then asked
// about longer ones.
//
//   three back   the word three positions before: a distance
//   latest       the latest of a, b, c and d: what is nearest, wherever it is
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/accuracy.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"
#include "tapestry/training.hpp"

namespace tapestry::beyond_length {

constexpr Index letters = 16, trained = 16;  // different words; length in training
constexpr Index last = 8;                    // positions at the end of a text that are asked

inline const std::vector<Index> lengths = {16, 24, 32, 48, 64};
inline const std::vector<std::string> schemes = {"learned", "sinusoidal", "none",  // as Positions
                                                 "rotary",  "relative",   "alibi"};

enum Task { three_back, latest };
inline const char* const task_names[] = {"the word three back", "the latest of a, b, c and d"};

struct Texts {
  Indices words, answers;  // (rows, length) each; answer -1 where there is none
};

inline Texts texts(Task task, Index rows, Index length, Random& random) {
  Texts all{
      Indices({rows, length}, std::vector<std::int32_t>(static_cast<std::size_t>(rows * length))),
      {}};
  for (std::int32_t& word : all.words.values) {
    word = static_cast<std::int32_t>(random.randint(letters));
  }
  all.answers = all.words;
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t* const words = &all.words.values[static_cast<std::size_t>(row * length)];
    for (Index i = 0; i < length; ++i) {
      Index from = task == three_back ? i - 3 : i;
      while (task == latest && from >= 0 && words[from] >= 4) --from;
      all.answers.values[static_cast<std::size_t>(row * length + i)] = from >= 0 ? words[from] : -1;
    }
  }
  return all;
}

// Trains a model that makes logits (32, trained, letters) of words (32, trained) on texts drawn by
// seed and step.
template <class Model>
void fit(Model& model, Task task, std::uint64_t seed, Index steps, double peak, std::string what) {
  Adam adam(model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data{seed, static_cast<std::uint64_t>(step)};
    const Texts t = texts(task, 32, trained, data);   // (32, trained)
    return cross_entropy(model(t.words), t.answers);  // logits (32, trained, letters)
  };
  TrainingOptions options{.steps = steps, .what = std::move(what)};
  options.learning_rate = [=](Index step) {
    return cosine_schedule(step, {.peak = peak, .floor = 2e-4, .warmup_steps = 20, .steps = steps});
  };
  train(adam, loss_of_step, options);
}

// Two layers of four heads, attention only.
inline Transformer trained_model(Task task, Positions positions, Index seed, Index steps) {
  Random random{static_cast<std::uint64_t>(seed), 0};
  Transformer model({.vocab_size = letters,
                     .max_length = lengths.back(),  // what is learned beyond 16 is never trained
                     .d_model = 32,
                     .has_feed_forward = false,
                     .positions = positions,
                     .initializer = init::lecun_normal},
                    random);
  fit(model, task, static_cast<std::uint64_t>(seed), steps, 5e-3,
      std::string(task_names[task]) + ", " + schemes[static_cast<std::size_t>(positions)]);
  return model;
}

// The share of right answers at the last eight positions of 128 texts that were never seen:
// model(words) makes logits (128, length, letters) of words (128, length).
template <class Model>
double share_right(const Model& model, Task task, Index length) {
  Random random{1000, static_cast<std::uint64_t>(length)};
  Texts t = texts(task, 128, length, random);  // (128, length)
  for (std::size_t at = 0; at < t.answers.values.size(); ++at) {
    if (static_cast<Index>(at) % length < length - last) t.answers.values[at] = -1;
  }
  return accuracy(model(t.words), t.answers);  // logits (128, length, letters)
}

// The same, if words see only what `mask` allows.
inline double share_right(const Transformer& model, Task task, Index length, const Mask& mask) {
  const auto masked = [&](const Indices& words) { return model(words, mask); };
  return share_right(masked, task, length);
}

}  // namespace tapestry::beyond_length
