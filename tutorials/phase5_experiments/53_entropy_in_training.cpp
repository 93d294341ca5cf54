// Step 53. When do heads become sharp: before the loss falls, or after?
//
// New here: the entropy of every head during training, at the places that count in the loss. The
// step at which it is half-way to its last value stands beside the step at which the loss is, over
// several seeds. And a control that can never be sharp: its weights are replaced by uniform ones.
// Writes out/plots/phase5_entropy_in_training.png; takes about 9 seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = 4, every = 5;  // steps from one measurement to the next
constexpr std::uint64_t seeds = 4;

struct Problem {
  std::string name;
  std::function<Batch(Part part, Index rows, Random& random)> draw;
  TransformerOptions options;
  Index steps;
};

std::vector<Problem> problems() {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  const auto sentences = [=](Part, Index rows, Random& random) {
    std::vector<Words> texts;
    for (Index i = 0; i < rows; ++i) texts.push_back(grammar.sentence(random).words);
    return masked_lm_batch(vocabulary, texts, random);
  };
  TransformerOptions options{.vocab_size = vocabulary.size(), .max_length = 16, .num_layers = 1};
  options.has_feed_forward = options.is_causal = false;
  std::vector<Problem> result = {{"hidden word", sentences, options, 450}};
  const auto add = [&](const std::string& name, TaskKind kind, Initializer start, Index steps) {
    const TinyTask task(kind, {.longest = 6});
    options.vocab_size = task.vocabulary().size();
    options.num_layers = 2;
    options.is_causal = true;
    options.initializer = start;
    const auto draw = [=](Part part, Index rows, Random& random) {
      return task.batch(part, rows, random);
    };
    result.push_back({name, draw, options, steps});
  };
  add("reverse", TaskKind::reverse, init::normal, 240);
  add("induction", TaskKind::induction, init::normal, 300);
  add("induction 2", TaskKind::induction, init::lecun_normal, 300);
  return result;
}

// What happened during one training.
struct Run {
  std::vector<double> steps, losses;           // on a test
  std::vector<std::vector<double>> entropies;  // of each head, those of layer 0 first
  double uniform = 0;                          // the entropy of uniform attention
};

// 1 for the queries that count in the loss, else 0.
Tensor says(const Indices& targets) {
  Tensor result = Tensor::zeros({targets.shape[0], 1, targets.shape[1]});  // (rows, 1, length)
  for (std::size_t i = 0; i < targets.values.size(); ++i) {
    result.data()[i] = targets.values[i] >= 0 ? 1 : 0;
  }
  return result;
}

void keep_uniform(Capture& reach, const TransformerOptions& options) {
  const Mask mask = options.is_causal ? Mask::causal() : Mask();
  for (Index layer = 0; layer < options.num_layers; ++layer) {
    reach.replace("blocks." + std::to_string(layer) + ".attention.weights",
                  [=](const Tensor& weights) { return uniform_attention(weights.shape(), mask); });
  }
}

void measure(const Transformer& model, const Batch& test, bool uniform, Run& run) {
  Capture seen;
  if (uniform) keep_uniform(seen, model.options);
  run.steps.push_back(every * static_cast<double>(run.steps.size()));
  run.losses.push_back(
      double{cross_entropy(model(test.inputs, {}, {.need_weights = true}), test.targets).item()});
  const Mask mask = model.options.is_causal ? Mask::causal() : Mask();
  const auto of_heads = [&](const Tensor& weights) {
    return mean(mean_of_rows(attention_entropy(weights), says(test.targets)), 0);  // (heads)
  };
  std::vector<double> now;
  for (const Tensor& weights : filed_weights(seen)) {  // (60, heads, length, length)
    for (const real entropy : of_heads(weights).values()) now.push_back(double{entropy});
    run.uniform = double{of_heads(uniform_attention(weights.shape(), mask)).at({0})};
  }
  run.entropies.resize(now.size());
  for (std::size_t head = 0; head < now.size(); ++head) run.entropies[head].push_back(now[head]);
}

Run learn(const Problem& problem, std::uint64_t seed, bool uniform) {
  Random start(seed), fresh(77);
  const Transformer model(problem.options, start);
  const Batch test = problem.draw(Part::held_out, 60, fresh);  // (60, length)
  Run run;
  measure(model, test, uniform, run);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = problem.steps};
  options.what = "";
  options.learning_rate = [&](Index step) {
    return cosine_schedule(
        step, {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = problem.steps});
  };
  options.after_step = [&](Index step, double) {
    if (step % every == 0) measure(model, test, uniform, run);
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

// The step at which a curve is half-way between its first and its last value.
double half_way(const std::vector<double>& curve) {
  const double middle = (curve.front() + curve.back()) / 2;
  std::size_t i = 1;
  while (curve[i] > middle) ++i;
  const double part = (curve[i - 1] - middle) / (curve[i - 1] - curve[i]);
  return every * (static_cast<double>(i - 1) + part);
}

// What the heads of one layer did in all runs.
struct Sharpening {
  std::vector<double> steps;  // half-way: the mean of the layer's sharp heads, for each seed
  std::vector<double> ahead;  // by how many steps this was before the loss was half-way
  std::vector<double> loss;   // what it was at this time
  int sharp = 0;              // heads that lost a quarter of the uniform entropy or more
};

Spread of(const std::vector<double>& values) {
  Tensor list = Tensor::zeros({static_cast<Index>(values.size())});  // (values.size())
  for (std::size_t i = 0; i < values.size(); ++i) list.set({static_cast<Index>(i)}, values[i]);
  return spread(list);
}

Sharpening sharpening(const std::vector<Run>& runs, std::size_t layer) {
  Sharpening result;
  for (const Run& run : runs) {
    std::vector<double> steps;
    for (std::size_t head = heads * layer; head < heads * (layer + 1); ++head) {
      const std::vector<double>& entropy = run.entropies[head];
      if (entropy.front() - entropy.back() < run.uniform / 4) continue;
      steps.push_back(half_way(entropy));
    }
    result.sharp += static_cast<int>(steps.size());
    if (steps.empty()) continue;
    const double step = of(steps).mean;
    result.steps.push_back(step);
    result.ahead.push_back(half_way(run.losses) - step);
    result.loss.push_back(run.losses[static_cast<std::size_t>(std::lround(step / every))]);
  }
  return result;
}

// 0: before the loss, 1: with it, for steps closer than the measurements are, or than two standard
// errors, tell nothing; 2: after it; 3: no verdict without a second seed.
std::size_t verdict(const Spread& ahead) {
  if (ahead.count < 2) return 3;
  const double error = ahead.deviation / std::sqrt(static_cast<double>(ahead.count));
  if (!(std::abs(ahead.mean) > std::max<double>(every, 2 * error))) return 1;
  return ahead.mean > 0 ? 0 : 2;
}

// How often the layers were before, with or after the loss; how many heads ended sharper than they
// began.
struct Tally {
  std::array<std::array<int, 4>, 2> layers{};
  int fell = 0, heads = 0;
};

void print(const Problem& problem, const std::vector<Run>& runs, const Run& control, Tally& tally) {
  std::vector<double> steps, last;
  for (const Run& run : runs) {
    steps.push_back(half_way(run.losses));
    last.push_back(run.losses.back());
  }
  std::printf("%-14s loss %9.0f +- %-2.0f   from %.2f to %.2f; kept uniform: %.2f\n",
              problem.name.c_str(), of(steps).mean, of(steps).deviation, runs[0].losses[0],
              of(last).mean, control.losses.back());
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(problem.options.num_layers);
       ++layer) {
    const Sharpening one = sharpening(runs, layer);
    const Spread half = of(one.steps);
    const std::size_t when = verdict(of(one.ahead));
    constexpr std::array<const char*, 4> words = {"before the loss", "with the loss",
                                                  "after the loss", "too few seeds"};
    std::printf("%14s layer %zu %6.0f +- %-2.0f   %2d of %zu heads, %s (%.2f by then)\n", "", layer,
                half.mean, half.deviation, one.sharp, heads * runs.size(), words[when],
                of(one.loss).mean);
    ++tally.layers[layer][when];
  }
  for (const Run& run : runs) {
    for (const std::vector<double>& entropy : run.entropies) {
      tally.fell += entropy.back() < entropy.front();
      ++tally.heads;
    }
  }
}

plot::LineChart loss_chart(const Problem& problem, const Run& run, const Run& control) {
  plot::LineChart chart;
  chart.title = problem.name;
  chart.x_axis = {.name = "step"};
  chart.y_axis = {.name = "loss", .low = 0};
  chart.series = {{"loss", run.steps, run.losses},
                  {"heads kept uniform", control.steps, control.losses}};
  chart.reference_lines = {{std::log(static_cast<double>(problem.options.vocab_size)), "guessing"}};
  return chart;
}

plot::LineChart entropy_chart(const Run& run) {
  plot::LineChart chart;
  chart.x_axis = {.name = "step"};
  chart.y_axis = {.name = "entropy of heads, nats", .low = 0};
  for (std::size_t head = 0; head < run.entropies.size(); ++head) {
    const std::size_t layer = head / heads;
    plot::Series series{head % heads ? "" : "layer " + std::to_string(layer), run.steps,
                        run.entropies[head]};
    series.colour = plot::series_colour(2 + layer);
    chart.series.push_back(series);
  }
  const double half = half_way(run.losses);
  chart.series.push_back({"½ loss", {half, half}, {0, run.uniform}, true, false, true});
  chart.series.back().colour = plot::series_colour(0);
  chart.reference_lines = {{run.uniform, "uniform"}};
  return chart;
}

void print_answer(const Tally& tally) {
  std::printf("\nANSWER: entropy fell in %d of %d heads. Half-way before, with, after the loss:\n",
              tally.fell, tally.heads);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const auto& count = tally.layers[layer];
    std::printf("layer %zu: %d, %d, %d times\n", layer, count[0], count[1], count[2]);
  }
}

}  // namespace

int main() try {
  std::printf("Step 53: entropy during training (takes about 9 seconds)\n\n");
  std::printf(
      "Steps until half of the way; %llu seeds; heads that lost a quarter of uniform entropy\n",
      static_cast<unsigned long long>(seeds));
  std::printf("(induction 2: weights start with deviation 0.125 instead of 0.02)\n\n");
  plot::Canvas canvas(1560, 760);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 2, 4);
  const std::vector<Problem> list = problems();
  Tally tally;
  Progress progress("training", static_cast<Index>(list.size() * (seeds + 1)), "models");
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::vector<Run> runs;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      runs.push_back(learn(list[i], seed, false));
      progress.step();
    }
    const Run control = learn(list[i], 1, true);
    progress.step();
    print(list[i], runs, control, tally);
    plot::draw(canvas, areas[i], loss_chart(list[i], runs[0], control));
    plot::draw(canvas, areas[i + list.size()], entropy_chart(runs[0]));
  }
  print_answer(tally);
  plot::write_png(canvas, "out/plots/phase5_entropy_in_training.png");
  std::printf("\nwrote out/plots/phase5_entropy_in_training.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
