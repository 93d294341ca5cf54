#include "course/head_counts.hpp"

#include <algorithm>

#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {
namespace {

constexpr Index d_model = 64, every = 20, tested = 200;

double share_right(const Transformer& model, const TinyTask& task) {
  Random random(77);
  const Batch test = task.batch(Part::held_out, tested, random);  // (tested, length)
  return static_cast<double>(exact_matches(model(test.inputs), test.targets)) / tested;
}

}  // namespace

Transformer model_with_heads(const TinyTask& task, const HeadSetting& setting, std::uint64_t seed) {
  Random random(seed);
  Transformer model({.vocab_size = task.vocabulary().size(),
                     .max_length = 16,
                     .d_model = d_model,
                     .num_heads = setting.heads,
                     .has_feed_forward = false,
                     .initializer = setting.start},
                    random);
  for (TransformerBlock& block : model.blocks) {
    block.attention = MultiHeadAttention(
        d_model, setting.heads, random,
        {.d_k = setting.d_k, .d_v = setting.d_v, .is_causal = true, .initializer = setting.start});
  }
  return model;
}

StepsToLearn steps_to_learn(const TinyTask& task, const HeadSetting& setting, std::uint64_t seed,
                            Index limit, double rate) {
  const Transformer model = model_with_heads(task, setting, seed);
  const auto loss_of_step = [&](Index step) {
    Random random(seed, static_cast<std::uint64_t>(step));
    const Batch b = task.batch(Part::train, 32, random);  // (32, length)
    return cross_entropy(model(b.inputs), b.targets);     // logits (32, length, vocabulary)
  };
  Adam adam(model.parameters());
  TrainingOptions options;
  options.what = "";
  options.learning_rate = [&](Index step) {
    return rate * std::min(1.0, static_cast<double>(step) / 50);
  };
  StepsToLearn result;
  double seconds = 0;
  while (!result.done && result.steps < limit) {
    options.steps = result.steps += every;
    seconds += train(adam, loss_of_step, options).seconds;
    result.right.push_back(share_right(model, task));
    result.done = result.right.back() >= 0.99;
  }
  result.milliseconds = 1000 * seconds / static_cast<double>(result.steps);
  return result;
}

}  // namespace tapestry
