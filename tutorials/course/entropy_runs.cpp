#include "course/entropy_runs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "course/grammar.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

namespace tapestry {
namespace {

constexpr Index heads = 4;

// 1 for the queries that count in the loss, else 0.
Tensor says(const Indices& targets) {
  Tensor result = Tensor::zeros({targets.shape[0], 1, targets.shape[1]});  // (rows, 1, length)
  for (std::size_t i = 0; i < targets.values.size(); ++i) {
    result.data()[i] = targets.values[i] >= 0 ? 1 : 0;
  }
  return result;
}

Mask mask_of(const TransformerOptions& options) {
  return options.is_causal ? Mask::causal() : Mask();
}

void keep_uniform(Capture& reach, const TransformerOptions& options) {
  const Mask mask = mask_of(options);
  for (Index layer = 0; layer < options.num_layers; ++layer) {
    reach.replace("blocks." + std::to_string(layer) + ".attention.weights",
                  [=](const Tensor& weights) { return uniform_attention(weights.shape(), mask); });
  }
}

void measure(const Transformer& model, const Batch& test, bool uniform, EntropyRun& run) {
  Capture seen;
  if (uniform) keep_uniform(seen, model.options);
  run.steps.push_back(entropy_every * static_cast<double>(run.steps.size()));
  run.losses.push_back(
      double{cross_entropy(model(test.inputs, {}, {.need_weights = true}), test.targets).item()});
  const auto of_heads = [&](const Tensor& weights) {
    return mean(mean_of_rows(attention_entropy(weights), says(test.targets)), 0);  // (heads)
  };
  std::vector<double> now;
  for (const Tensor& weights : captured_weights(seen)) {  // (60, heads, length, length)
    for (const real entropy : of_heads(weights).values()) now.push_back(double{entropy});
    const Tensor even = uniform_attention(weights.shape(), mask_of(model.options));  // as weights
    run.uniform = double{of_heads(even).at({0})};
  }
  run.entropies.resize(now.size());
  for (std::size_t head = 0; head < now.size(); ++head) run.entropies[head].push_back(now[head]);
}

}  // namespace

std::vector<EntropyProblem> entropy_problems() {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  const auto sentences = [=](Part, Index rows, Random& random) {
    std::vector<Words> texts;
    for (Index i = 0; i < rows; ++i) texts.push_back(grammar.sentence(random).words);
    return masked_lm_batch(vocabulary, texts, random);  // (rows, 6)
  };
  TransformerOptions options{.vocab_size = vocabulary.size(), .max_length = 16, .num_layers = 1};
  options.has_feed_forward = options.is_causal = false;
  std::vector<EntropyProblem> result = {{"hidden word", sentences, options, 450}};
  options.num_layers = 2;
  options.is_causal = true;
  const auto add = [&](TaskKind kind, Initializer start, Index steps) {
    const TinyTask task(kind, {.longest = 6});
    options.vocab_size = task.vocabulary().size();
    options.initializer = start;
    const auto draw = [=](Part part, Index rows, Random& random) {
      return task.batch(part, rows, random);  // (rows, length)
    };
    result.push_back({to_string(kind), draw, options, steps});
  };
  add(TaskKind::reverse, init::normal, 240);
  add(TaskKind::induction, init::lecun_normal, 800);
  return result;
}

EntropyRun train_with_entropies(const EntropyProblem& problem, Index steps, std::uint64_t seed,
                                bool uniform) {
  Random start(seed), fresh(77);
  const Transformer model(problem.options, start);
  const Batch test = problem.draw(Part::held_out, 60, fresh);  // (60, length)
  EntropyRun run;
  measure(model, test, uniform, run);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = steps};
  options.what = "";
  options.learning_rate = [&](Index step) {
    return cosine_schedule(step, {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps});
  };
  options.after_step = [&](Index step, double) {
    if (step % entropy_every == 0) measure(model, test, uniform, run);
  };
  const auto loss_of_step = [&](Index step) {
    Random random(seed, static_cast<std::uint64_t>(step));
    const Batch b = problem.draw(Part::train, 32, random);  // (32, length)
    std::optional<Capture> reach;
    if (uniform) keep_uniform(reach.emplace(), problem.options);
    return cross_entropy(model(b.inputs, {}, {.need_weights = uniform}), b.targets);
  };
  train(adam, loss_of_step, options);
  return run;
}

double lasting_crossing(const std::vector<double>& curve, double part) {
  const double mark = curve.front() + part * (curve.back() - curve.front());
  std::size_t i = curve.size() - 1;  // the first point after which all are beyond the mark
  while (i > 1 && (curve[i - 1] - mark) * (curve.front() - mark) <= 0) --i;
  const double share = (curve[i - 1] - mark) / (curve[i - 1] - curve[i]);
  return entropy_every * (static_cast<double>(i - 1) + share);
}

std::optional<double> control_crossing(const EntropyRun& control, const EntropyRun& run,
                                       double part) {
  const std::vector<double>& losses = control.losses;
  const double loss = run.losses.front() + part * (run.losses.back() - run.losses.front());
  const double own = (losses.front() - loss) / (losses.front() - losses.back());  // part of its way
  return own < 1 ? std::optional(lasting_crossing(losses, own)) : std::nullopt;
}

LayerCrossing layer_crossing(const EntropyRun& run, Index layer, double part) {
  LayerCrossing result;
  for (Index head = heads * layer; head < heads * (layer + 1); ++head) {
    const std::vector<double>& entropy = run.entropies[static_cast<std::size_t>(head)];
    if (entropy.front() - entropy.back() < run.uniform / 4) continue;
    result.step += lasting_crossing(entropy, part);
    ++result.heads;
  }
  if (result.heads > 0) result.step /= result.heads;
  return result;
}

}  // namespace tapestry
