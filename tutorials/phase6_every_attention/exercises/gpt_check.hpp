// What the checks of the capstone share: the same model from the library's operations, whose tape
// gives the gradients, with switches for what people get wrong; models as inputs and results.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "course/exercise.hpp"
#include "gpt.hpp"
#include "phase4_check.hpp"

namespace tapestry {

// What a form gets wrong.
struct Slip {
  bool is_masked = true;
  double width_of_scale = 1;      // scores are divided by the root of the head's width times this
  bool attends_to_normed = true;  // false: attention sees x, not its norm
  bool adds_input = true;         // the residual around attention
  bool adds_middle = true;        // the residual around the feed-forward part
  bool adds_normed = false;       // the residual around attention begins behind the norm
  bool output = true;             // the output map
  // Of the backward pass alone: no gradient passes there.
  bool back_input = true, back_middle = true, back_query = true, back_key = true;
};

inline Tensor heads_of(const Tensor& x) {  // (n, d) -> (heads, n, width)
  return permute(reshape(x, {x.size(0), Gpt::heads, -1}), {1, 0, 2});
}

inline Tensor block_by_library(const GptBlock& w, const Tensor& x, BlockTrace& kept,
                               const Slip& slip = {}) {
  const auto passing = [](const Tensor& t, bool passes) { return passes ? t : t.detach(); };
  const Index n = x.size(0);
  kept.x = x;
  const Tensor normed = layer_norm(x, w.gain1, w.shift1, Gpt::eps);  // (n, d)
  kept.seen = slip.attends_to_normed ? normed : x;
  kept.q = heads_of(matmul(passing(kept.seen, slip.back_query), w.query));  // (heads, n, width)
  kept.k = heads_of(matmul(passing(kept.seen, slip.back_key), w.key));
  kept.v = heads_of(matmul(kept.seen, w.value));
  const double root = std::sqrt(static_cast<double>(kept.q.size(2)) * slip.width_of_scale);
  Tensor scores = matmul(kept.q, transpose(kept.k)) / root;  // (heads, n, n)
  const Tensor place = Tensor::arange(n);
  const Tensor sees = unsqueeze(place, 1) >= unsqueeze(place, 0);  // (n, n)
  if (slip.is_masked) scores = where(sees, scores, -std::numeric_limits<double>::infinity());
  kept.weights = softmax(scores);
  kept.mixed = reshape(permute(matmul(kept.weights, kept.v), {1, 0, 2}), x.shape());
  const Tensor attended = slip.output ? matmul(kept.mixed, w.output) : kept.mixed;  // (n, d)
  const Tensor around = passing(slip.adds_normed ? normed : x, slip.back_input);
  kept.middle = slip.adds_input ? around + attended : attended;
  kept.seen2 = layer_norm(kept.middle, w.gain2, w.shift2, Gpt::eps);
  kept.up = matmul(kept.seen2, w.up) + w.up_bias;  // (n, f)
  kept.active = gelu_tanh(kept.up);
  const Tensor down = matmul(kept.active, w.down) + w.down_bias;  // (n, d)
  return slip.adds_middle ? passing(kept.middle, slip.back_middle) + down : down;
}

// -> logits (n, vocabulary)
inline Tensor gpt_by_library(const Gpt& w, const Indices& ids, const Slip& slip = {}) {
  Tensor x = embedding(w.words, ids) + slice(w.positions, 0, 0, ids.shape[0]);  // (n, d)
  for (const GptBlock& block : w.blocks) {
    BlockTrace kept;
    x = block_by_library(block, x, kept, slip);
  }
  return matmul(layer_norm(x, w.gain, w.shift, Gpt::eps), w.logits);
}

// ---- Models as lists of tensors

inline Tensor drawn(Random& random, const Shape& shape, double around = 0) {
  return random.normal(shape, around, shape.ndim() == 1 ? 0.5 : 1 / std::sqrt(double(shape[0])));
}

inline GptBlock random_block(Random& random, Index d, Index f) {
  const auto matrix = [&] { return drawn(random, {d, d}); };
  const auto row = [&](double around) { return drawn(random, {d}, around); };
  return {row(1),
          row(0),
          3 * matrix(),
          3 * matrix(),
          matrix(),
          matrix(),
          row(1),
          row(0),
          drawn(random, {d, f}),
          drawn(random, {f}),
          drawn(random, {f, d}),
          row(0)};
}

inline Gpt random_gpt(Random& random, Index words, Index longest, Index d, Index f, Index blocks) {
  Gpt gpt{drawn(random, {words, d}), drawn(random, {longest, d}), {},
          drawn(random, {d}, 1),     drawn(random, {d}),          2 * drawn(random, {d, words})};
  for (Index i = 0; i < blocks; ++i) gpt.blocks.push_back(random_block(random, d, f));
  return gpt;
}

// Clones, with names that say which: "3" is the fourth in the order of tensors_of.
template <class Model>
void append(NamedTensors& to, Model model) {
  for (Tensor* one : tensors_of(model)) {
    to.push_back({"tensor " + std::to_string(to.size()), one->clone()});
  }
}

// The tensors from `at` on, put into the places of a model; advances `at`.
template <class Model>
void take(const NamedTensors& from, std::size_t& at, Model& model) {
  for (Tensor* one : tensors_of(model)) *one = from.at(at++).value.clone();
}

}  // namespace tapestry
