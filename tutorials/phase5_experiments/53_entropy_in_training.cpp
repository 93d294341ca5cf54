// Step 53. When do heads become sharp: before the loss falls, or after?
//
// New here: the entropy of every head during training (course/entropy_runs.hpp), at the places that
// count in the loss. "The loss falls" needs a mark: 10, 25, 50 or 75 % of the way from its first
// value to its last. At each mark stands the step from which on a curve is beyond it, for the loss
// and for the heads that became sharp. And a control that can never be sharp: its weights are
// replaced by uniform ones.
// Writes out/plots/phase5_entropy_in_training.png; takes about 13 seconds.
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "course/entropy_runs.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::size_t heads = 4;
constexpr std::uint64_t seeds = 3;
constexpr std::array marks = {0.1, 0.25, 0.5, 0.75};
using Runs = std::vector<EntropyRun>;  // one for each seed

double mean_loss(const Runs& runs) {
  double sum = 0;
  for (const EntropyRun& run : runs) sum += run.losses.back();
  return sum / static_cast<double>(runs.size());
}

void print_loss(const EntropyProblem& problem, const Runs& runs) {
  std::printf("%-12s loss    ", problem.name.c_str());
  for (const double mark : marks) {
    double sum = 0;
    for (const EntropyRun& run : runs) sum += lasting_crossing(run.losses, mark);
    std::printf("%6.0f", sum / seeds);
  }
  std::printf("   from %.2f to %.2f\n", runs[0].losses[0], mean_loss(runs));
}

// The steps from which on the control's loss is beyond the marks of the same seed's loss.
void print_control(const EntropyRun& run, const EntropyRun& control) {
  std::printf("%12s uniform ", "");
  for (const double mark : marks) {
    const std::optional<double> step = control_crossing(control, run, mark);
    if (step)
      std::printf("%6.0f", *step);
    else
      std::printf("     -");
  }
  std::printf("   kept uniform, one seed: to %.2f\n", control.losses.back());
}

void print_layer(const Runs& runs, Index layer) {
  std::printf("%12s layer %lld ", "", static_cast<long long>(layer));
  int sharp = 0;
  for (const double mark : marks) {
    double sum = 0, count = 0;
    sharp = 0;
    for (const EntropyRun& run : runs) {
      const LayerCrossing crossing = layer_crossing(run, layer, mark);
      sharp += crossing.heads;
      if (crossing.heads == 0) continue;
      sum += crossing.step;
      ++count;
    }
    if (count > 0)
      std::printf("%6.0f", sum / count);
    else
      std::printf("     -");
  }
  std::printf("   %d of %zu heads became sharp\n", sharp, heads * runs.size());
}

plot::LineChart loss_chart(const EntropyProblem& problem, const Runs& runs,
                           const EntropyRun& control) {
  plot::LineChart chart;
  chart.title = problem.name;
  chart.x_axis = {.name = "step"};
  chart.y_axis = {.name = "loss", .low = 0};
  for (const EntropyRun& run : runs) {
    chart.series.push_back({chart.series.empty() ? "loss, 3 seeds" : "", run.steps, run.losses});
    chart.series.back().colour = plot::series_colour(0);
  }
  chart.series.push_back({"heads kept uniform", control.steps, control.losses});
  chart.series.back().colour = plot::series_colour(1);
  chart.reference_lines = {{std::log(static_cast<double>(problem.options.vocab_size)), "guessing"}};
  return chart;
}

plot::LineChart entropy_chart(const EntropyRun& run) {
  plot::LineChart chart;
  chart.subtitle = "first seed; blue: where the loss passes the four marks";
  chart.x_axis = {.name = "step"};
  chart.y_axis = {.name = "entropy of heads, nats", .low = 0};
  for (std::size_t head = 0; head < run.entropies.size(); ++head) {
    const std::size_t layer = head / heads;
    plot::Series series{head % heads ? "" : "layer " + std::to_string(layer), run.steps,
                        run.entropies[head]};
    series.colour = plot::series_colour(2 + layer);
    chart.series.push_back(series);
  }
  for (const double mark : marks) {
    const double step = lasting_crossing(run.losses, mark);
    chart.series.push_back({"", {step, step}, {0, run.uniform}, true, false, true});
    chart.series.back().colour = plot::series_colour(0);
  }
  chart.reference_lines = {{run.uniform, "uniform"}};
  return chart;
}

// How many heads end with less entropy than they began with, and how many at half of it or less.
struct Tally {
  int heads = 0, fell = 0, halved = 0;

  void add(const Runs& runs) {
    for (const EntropyRun& run : runs) {
      for (const std::vector<double>& entropy : run.entropies) {
        ++heads;
        fell += entropy.back() < entropy.front();
        halved += entropy.back() < entropy.front() / 2;
      }
    }
  }
};

void print(const EntropyProblem& problem, const Runs& runs, const EntropyRun& control) {
  print_loss(problem, runs);
  print_control(runs[0], control);
  for (Index layer = 0; layer < problem.options.num_layers; ++layer) print_layer(runs, layer);
}

Runs train_all(const EntropyProblem& problem, Progress& progress) {
  Runs runs;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    runs.push_back(train_with_entropies(problem, problem.steps, seed));
    progress.step();
  }
  return runs;
}

}  // namespace

int main() try {
  std::printf("Step 53: entropy during training (takes about 13 seconds)\n\n");
  std::printf("Steps until a part of the way is made for good; means of %llu seeds. Of a layer,\n",
              static_cast<unsigned long long>(seeds));
  std::printf("of the heads that lost a quarter of the entropy of uniform attention\n\n");
  std::printf("                      10 %%  25 %%  50 %%  75 %%\n");
  plot::Canvas canvas(1560, 860);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 2, 3);
  const std::vector<EntropyProblem> problems = entropy_problems();
  Tally tally;
  Progress progress("training", static_cast<Index>(problems.size() * (seeds + 1)), "models");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Runs runs = train_all(problems[i], progress);
    const EntropyRun control = train_with_entropies(problems[i], problems[i].steps, 1, true);
    progress.step();
    print(problems[i], runs, control);
    tally.add(runs);
    plot::draw(canvas, areas[i], loss_chart(problems[i], runs, control));
    plot::draw(canvas, areas[i + problems.size()], entropy_chart(runs[0]));
  }
  std::printf("\nANSWER: entropy fell in %d of %d heads, in %d to less than half\n", tally.fell,
              tally.heads, tally.halved);
  plot::write_png(canvas, "out/plots/phase5_entropy_in_training.png");
  std::printf("\nwrote out/plots/phase5_entropy_in_training.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
