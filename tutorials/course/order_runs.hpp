// The models of step 57: they learn to say a letter that was read, in a decoder
// (causal mask) or in an encoder (no mask), with positions or without.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "course/letters_before.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/training.hpp"

namespace tapestry {

struct OrderTask {
  static constexpr Index letters = 12, length = 13;  // <bos> and twelve letters
  static constexpr std::int32_t bos = letters;

  Index back = 1;       // say the letter so many places before; 0: the first in the alphabet
  bool causal = true;   // ... of those seen so far (decoder), or of all (encoder)
  bool has_bos = true;  // <bos> stands in front, or else one more random letter

  // Random letters, and what each place is to say; -1 where nothing. Both (rows, length).
  Batch batch(Index rows, Random& random) const {
    const auto count = static_cast<std::size_t>(rows * length);
    Batch drawn{Indices({rows, length}, std::vector<std::int32_t>(count)),
                Indices({rows, length}, std::vector<std::int32_t>(count, -1)),
                {}};
    for (Index row = 0; row < rows; ++row) {
      std::int32_t* x = drawn.inputs.values.data() + row * length;
      std::int32_t* y = drawn.targets.values.data() + row * length;
      x[0] = has_bos ? bos : static_cast<std::int32_t>(random.randint(letters));
      for (Index i = 1; i < length; ++i) x[i] = static_cast<std::int32_t>(random.randint(letters));
      for (Index i = 1; back == 0 && i < length; ++i) {
        y[i] = *std::min_element(x + 1, x + (causal ? i + 1 : length));
      }
    }
    if (back > 0) drawn.targets = letters_before(drawn.inputs, back, 1);  // x[0] is never asked for
    return drawn;
  }

  // The best that can be done if one knows which letters a place sees, and which is its own, but
  // not their order: say the most frequent of the others.
  double best_without_order() const {
    if (back == 0) return 1;
    Random data(98);
    constexpr Index rows = 2000;
    const Batch test = batch(rows, data);  // (rows, length)
    double right = 0;
    for (Index row = 0; row < rows; ++row) {
      const std::int32_t* x = test.inputs.values.data() + row * length;
      for (Index i = back + 1; i < length; ++i) {
        std::array<int, letters> count{};
        for (Index j = has_bos ? 1 : 0; j < (causal ? i : length); ++j) {
          if (j != i) ++count[static_cast<std::size_t>(x[j])];
        }
        right += std::max_element(count.begin(), count.end()) - count.begin() == x[i - back];
      }
    }
    return right / static_cast<double>(rows * (length - 1 - back));
  }
};

inline Transformer order_model(bool causal, Positions positions, Index layers, std::uint64_t seed) {
  Random random(seed);
  return Transformer({.vocab_size = OrderTask::letters + 1,
                      .max_length = OrderTask::length,
                      .d_model = 32,
                      .num_heads = 2,
                      .num_layers = layers,
                      .is_causal = causal,
                      .positions = positions,
                      .initializer = init::lecun_normal},
                     random);
}

inline void learn(const Transformer& model, const OrderTask& task, std::uint64_t seed,
                  Index steps = 250) {
  Adam adam(model.parameters());
  const ScheduleOptions rates{.peak = 4e-3, .floor = 1e-4, .warmup_steps = 20, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random data(10 + seed, static_cast<std::uint64_t>(step));
    const Batch batch = task.batch(24, data);                  // (24, length)
    return cross_entropy(model(batch.inputs), batch.targets);  // logits (24, 13, 13)
  };
  const auto rate = [&](Index step) { return cosine_schedule(step, rates); };
  train(adam, loss_of_step, {.steps = steps, .learning_rate = rate, .what = ""});
}

// Share of new letters said right.
inline double share_right(const Transformer& model, const OrderTask& task) {
  Random data(99);
  const Batch test = task.batch(64, data);            // (64, length)
  return accuracy(model(test.inputs), test.targets);  // logits (64, length, letters + 1)
}

// Two letters near the start change places: how much does the output at the last place change?
inline double change_by_swap(const Transformer& model) {
  Random data(5);
  Indices ids = OrderTask().batch(1, data).inputs;                           // (1, length)
  const auto last = [&] { return slice(model(ids), 1, -1, ids.shape[1]); };  // (1, 1, 13)
  const Tensor unchanged = last();                                           // (1, 1, 13)
  std::swap(ids.values[2], ids.values[5]);
  return largest_difference(unchanged, last());
}

// The largest of the heads' mean weights on the letter before.
inline double on_letter_before(const Transformer& model, Index layer) {
  Random data(8);
  const Capture seen;
  model(OrderTask().batch(64, data).inputs, {}, {.need_weights = true});
  const Tensor& weights = seen["blocks." + std::to_string(layer) + ".attention.weights"];
  const Mask mask = model.options.is_causal ? Mask::causal() : Mask();
  return double{max(mean(pattern_score(Pattern::previous, weights, mask), 0)).item()};
}

// A linear probe: how many places off, on average, is a linear map that has learned to read the
// place off a layer's output? (Never asked about <bos>, which is known by its word.)
inline double places_off(const Transformer& model, const OrderTask& task, Index layer) {
  Random data(7);
  constexpr Index places = OrderTask::length - 1;
  const auto features = [&] {
    const Capture seen;
    model(task.batch(64, data).inputs);
    const Tensor& x = seen["blocks." + std::to_string(layer) + ".output"];  // (64, 13, 32)
    return slice(x, 1, 1, places + 1).contiguous();                         // (64, places, 32)
  };
  const Tensor train_x = features(), test_x = features();  // (64, places, 32) each
  Indices place({64, places}, std::vector<std::int32_t>(64 * places));
  for (std::size_t i = 0; i < place.values.size(); ++i) place.values[i] = i % places;
  const Linear probe(train_x.size(-1), places, data, {.initializer = init::normal});
  Adam adam(probe.parameters(), {.learning_rate = 0.03});
  train(adam, [&](Index) { return cross_entropy(probe(train_x), place); },
        {.steps = 150, .what = ""});
  const Tensor all = Tensor::arange(places);                       // (places)
  const Tensor off = sum(softmax(probe(test_x)) * all, -1) - all;  // (64, places)
  return double{mean(sqrt(off * off)).item()};
}

}  // namespace tapestry
