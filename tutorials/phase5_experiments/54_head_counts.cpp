// Step 54. How many heads? Which matters more: how many there are, or how wide each is?
//
// New here: step 25 compared what one and several heads reach; here is how many steps they need
// until 99 % of new answers are right, on a task that two layers have to solve together
// (induction). At one width of the model more heads are narrower heads: d_k = 64 / heads. So two
// settings follow that change one thing alone, and what a step costs.
// Writes out/plots/phase5_head_counts.png; takes about 9 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index d_model = 64, most_steps = 360, tested = 100;
constexpr std::uint64_t seeds = 4;
const TinyTask task(TaskKind::induction, {.shortest = 3, .longest = 5});

struct Setting {
  Index heads, d_k;
};
// The last two: the width of a head changes, and its number does not.
const std::vector<Setting> settings = {{1, 64}, {2, 32}, {4, 16}, {8, 8},
                                       {16, 4}, {4, 4},  {16, 16}};

struct Result {
  std::vector<double> steps;  // until 99 % are right, for each seed
  std::vector<double> right;  // mean over seeds, every 20 steps; a run that is done keeps its value
  double milliseconds = 0;    // of a step
  Index learned = 0;          // how many numbers
};

Transformer new_model(const Setting& setting, std::uint64_t seed) {
  Random random(seed);
  Transformer model({.vocab_size = task.vocabulary().size(),
                     .max_length = 16,
                     .d_model = d_model,
                     .num_heads = setting.heads,
                     .has_feed_forward = false,
                     .initializer = init::lecun_normal},
                    random);
  if (setting.d_k * setting.heads == d_model) return model;
  for (TransformerBlock& block : model.blocks) {
    block.attention = MultiHeadAttention(d_model, setting.heads, random,
                                         {.d_k = setting.d_k,
                                          .d_v = d_model / setting.heads,
                                          .is_causal = true,
                                          .initializer = init::lecun_normal});
  }
  return model;
}

double share_right(const Transformer& model) {
  Random random(77);
  const Batch test = task.batch(Part::held_out, tested, random);  // (tested, length)
  return static_cast<double>(exact_matches(model(test.inputs), test.targets)) / tested;
}

void run(const Setting& setting, std::uint64_t seed, Result& result) {
  const Transformer model = new_model(setting, seed);
  const auto loss_of_step = [&](Index step) {
    Random random(seed, static_cast<std::uint64_t>(step));
    const Batch b = task.batch(Part::train, 24, random);  // (24, length)
    return cross_entropy(model(b.inputs), b.targets);     // logits (24, length, vocabulary)
  };
  Adam adam(model.parameters());
  TrainingOptions options;
  options.what = "";
  options.learning_rate = [](Index step) {
    return 3e-3 * std::min(1.0, static_cast<double>(step) / 50);
  };
  double right = 0, seconds = 0;
  result.steps.push_back(most_steps);
  for (std::size_t i = 0; i < result.right.size(); ++i) {
    if (right < 0.99) {
      options.steps = 20 * static_cast<Index>(i + 1);
      seconds += train(adam, loss_of_step, options).seconds;
      right = share_right(model);
      if (right >= 0.99) result.steps.back() = static_cast<double>(options.steps);
    }
    result.right[i] += right / seeds;
  }
  result.milliseconds += 1000 * seconds / static_cast<double>(adam.steps()) / seeds;
  result.learned = model.parameter_count();
}

Spread of(const std::vector<double>& values) {
  Tensor list = Tensor::zeros({static_cast<Index>(values.size())});  // (values.size())
  for (std::size_t i = 0; i < values.size(); ++i) list.set({static_cast<Index>(i)}, values[i]);
  return spread(list);
}

// Whether a is slower than b by more than two standard errors of the difference.
bool slower(const Result& a, const Result& b) {
  const Spread x = of(a.steps), y = of(b.steps);
  const double error = std::sqrt((x.deviation * x.deviation + y.deviation * y.deviation) / seeds);
  return x.mean - y.mean > 2 * error;
}

void print(const Setting& setting, const Result& result) {
  std::printf("%5lld %4lld %8lld   ", static_cast<long long>(setting.heads),
              static_cast<long long>(setting.d_k), static_cast<long long>(result.learned));
  for (const double count : result.steps) std::printf(" %4.0f", count);
  std::printf("   %4.0f\n", of(result.steps).mean);
}

void print_answer(const std::vector<Result>& results) {
  std::printf("\nANSWER: with d_k = 64 / heads, slower than others by two standard errors:");
  int pairs = 0;
  for (std::size_t a = 0; a < 5; ++a) {
    const bool is_slower =
        std::any_of(results.begin(), results.begin() + 5,
                    [&](const Result& other) { return slower(results[a], other); });
    if (is_slower)
      std::printf("%s %lld heads", pairs++ ? "," : "", static_cast<long long>(settings[a].heads));
  }
  std::printf("%s\n", pairs ? "" : " none");
  const auto steps = [&](std::size_t i) { return of(results[i].steps).mean; };
  const bool more = steps(5) == most_steps;  // perhaps none of them was done
  std::printf("d_k 4 instead of 16: %s%.1f times the steps with 4 heads, %.1f with 16\n",
              more ? "at least " : "", steps(5) / steps(2), steps(4) / steps(6));
  std::printf("16 heads instead of 4: %s%.1f times the steps with d_k 4, %.1f with d_k 16\n",
              more ? "at most " : "", steps(4) / steps(5), steps(6) / steps(2));
}

plot::LineChart learning_chart(const std::vector<Result>& results) {
  plot::LineChart chart;
  chart.title = "Learning, d_k = 64 / heads";
  chart.subtitle = "mean of 4 seeds; each stops when 99 % are right";
  chart.x_axis = {.name = "step", .low = 0};
  chart.y_axis = {.name = "share of answers wholly right", .low = 0, .high = 1};
  std::vector<double> at;
  for (Index step = 20; step <= most_steps; step += 20) at.push_back(static_cast<double>(step));
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string name = std::to_string(settings[i].heads) + (i == 0 ? " head" : " heads");
    chart.series.push_back({name, at, results[i].right});
  }
  return chart;
}

plot::LineChart steps_chart(const std::vector<Result>& results) {
  plot::LineChart chart;
  chart.title = "Steps until 99 % are right";
  chart.subtitle = "mean of 4 seeds; 360 means 360 or more";
  chart.x_axis = {.name = "heads", .log = true, .low = 1, .high = 20};
  chart.y_axis = {.name = "steps", .low = 0};
  const auto line = [&](const std::string& name, const std::vector<std::size_t>& which) {
    plot::Series series{name, {}, {}, true, true};
    for (const std::size_t i : which) {
      series.x.push_back(static_cast<double>(settings[i].heads));
      series.y.push_back(of(results[i].steps).mean);
    }
    chart.series.push_back(series);
  };
  line("d_k = 64 / heads", {0, 1, 2, 3, 4});
  line("d_k = 4", {5, 4});
  line("d_k = 16", {2, 6});
  return chart;
}

void draw(const std::vector<Result>& results) {
  plot::Canvas canvas(1160, 480);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, areas[0], learning_chart(results));
  plot::draw(canvas, areas[1], steps_chart(results));
  plot::write_png(canvas, "out/plots/phase5_head_counts.png");
}

}  // namespace

int main() try {
  std::printf("Step 54: how many heads (takes about 10 seconds)\n\n");
  std::printf("1. Induction, two layers: steps until 99 %% of %lld held-out answers are right\n",
              static_cast<long long>(tested));
  std::printf("heads  d_k  learned     seeds 1 to %llu           mean   (%lld: or more)\n",
              static_cast<unsigned long long>(seeds), static_cast<long long>(most_steps));
  Progress progress("training", static_cast<Index>(settings.size() * seeds), "models");
  std::vector<Result> results;
  for (const Setting& setting : settings) {
    Result result;
    result.right.resize(most_steps / 20);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      run(setting, seed, result);
      progress.step();
    }
    print(setting, result);
    results.push_back(result);
  }
  std::printf("\n2. Time of a step, in those of one head; on this machine\n");
  std::printf("heads  d_k   time\n");
  for (std::size_t i = 0; i < settings.size(); ++i) {
    std::printf("%5lld %4lld %6.1f\n", static_cast<long long>(settings[i].heads),
                static_cast<long long>(settings[i].d_k),
                results[i].milliseconds / results[0].milliseconds);
  }
  print_answer(results);
  draw(results);
  std::printf("\nwrote out/plots/phase5_head_counts.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
