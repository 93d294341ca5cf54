// What step 61 and its experiments train: small decoders on texts of 16 words, which are then asked
// about longer ones.
//
//   three back   the word three positions before: a distance
//   latest       the latest of a, b, c and d: what is nearest, wherever it is
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "course/letters_before.hpp"
#include "course/named_mask.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
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
  const Indices drawn = random_letters(letters, rows, length, random);  // (rows, length)
  if (task == three_back) return {drawn, letters_before(drawn, 3)};
  Indices answers = drawn;  // (rows, length)
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t* const words = &drawn.values[static_cast<std::size_t>(row * length)];
    for (Index i = 0; i < length; ++i) {
      Index from = i;
      while (from >= 0 && words[from] >= 4) --from;
      answers.values[static_cast<std::size_t>(row * length + i)] = from >= 0 ? words[from] : -1;
    }
  }
  return {drawn, answers};
}

// Trains a model that makes logits (32, length, letters) of words (32, length) on texts drawn by
// seed and step.
template <class Model>
void fit(Model& model, Task task, std::uint64_t seed, Index steps, double peak, std::string what,
         Index length = trained) {
  Adam adam(model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data{seed, static_cast<std::uint64_t>(step)};
    const Texts t = texts(task, 32, length, data);    // (32, length)
    return cross_entropy(model(t.words), t.answers);  // logits (32, length, letters)
  };
  TrainingOptions options{.steps = steps, .what = std::move(what)};
  options.learning_rate = [=](Index step) {
    return cosine_schedule(step, {.peak = peak, .floor = 2e-4, .warmup_steps = 20, .steps = steps});
  };
  train(adam, loss_of_step, options);
}

// Two layers of four heads, attention only, trained on texts of `length` words. `base`: that of
// rotary positions.
inline Transformer trained_model(Task task, Positions positions, Index seed, Index steps,
                                 double base = 10000, Index length = trained) {
  Random random{static_cast<std::uint64_t>(seed), 0};
  Transformer model({.vocab_size = letters,
                     .max_length = lengths.back(),  // what is learned beyond 16 is never trained
                     .d_model = 32,
                     .has_feed_forward = false,
                     .positions = positions,
                     .rotary = {.base = base},
                     .initializer = init::lecun_normal},
                    random);
  fit(model, task, static_cast<std::uint64_t>(seed), steps, 5e-3,
      std::string(task_names[task]) + ", " + schemes[static_cast<std::size_t>(positions)], length);
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

// What words see in place of all that is before them: the nearest 16 words, or 32 of them, or as
// many of which half are farther. (No later ones: the models are causal.)
inline std::vector<NamedMask> masks() {
  const Mask nearest = Mask::local(15);
  return {{"sees 16 words", nearest},
          {"16, and 16 to 31 back", Mask::local(31)},
          // around 39 and 40 back, 7 to either side: 32 to 47 back
          {"16, and 32 to 47 back", nearest | Mask::local(7, -39) | Mask::local(7, -40)}};
}

// Shares, one for each seed, in per cent: their mean, the smallest and the largest, as
// "  67 47-91  ", 13 columns wide. Throws Error if there are none.
inline std::string mean_and_range(const std::vector<double>& shares) {
  if (shares.empty()) throw Error("mean_and_range: no shares");
  double sum = 0;
  for (const double share : shares) sum += share;
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  const std::string range = formatted("%.0f-%.0f", 100 * *low, 100 * *high);
  return formatted(" %4.0f %-7s", 100 * sum / double(shares.size()), range.c_str());
}

}  // namespace tapestry::beyond_length
