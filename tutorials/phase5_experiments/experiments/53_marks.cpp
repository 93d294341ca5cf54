// An experiment for step 53: do heads become sharp before, with or after the fall of the loss?
// Twelve seeds, four marks (10, 25, 50 and 75 % of the way from the first value to the last), two
// budgets. With the first budget each seed has a control, whose weights are kept uniform: when does
// its loss pass the marks of that seed's loss, and where does it end?
//
// A crossing of a mark counts once it lasts. Of each layer the heads count that lost a quarter of
// the entropy of uniform attention; a seed without one is left out, and a layer with fewer than six
// seeds has no verdict. A layer is "before" or "after" the loss if the mean difference over seeds
// is above the five steps between two measurements and above 4.5 standard errors, or more with
// fewer seeds (5 % for all 40 verdicts together: Bonferroni, t), else "with" it. Takes about 3
// minutes of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/entropy_runs.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 12;
constexpr std::array marks = {0.1, 0.25, 0.5, 0.75};

Spread of(const std::vector<double>& values) {
  Tensor list = Tensor::zeros({static_cast<Index>(values.size())});  // (values.size())
  for (std::size_t i = 0; i < values.size(); ++i) list.set({static_cast<Index>(i)}, values[i]);
  return spread(list);
}

// How many standard errors a verdict needs, with six to twelve seeds.
constexpr std::array least_errors = {6.55, 5.71, 5.21, 4.87, 4.63, 4.5, 4.5};

const char* verdict(const Spread& ahead) {
  if (ahead.count < 6) return "?";
  const double error = ahead.deviation / std::sqrt(static_cast<double>(ahead.count));
  const double least = least_errors[static_cast<std::size_t>(ahead.count - 6)] * error;
  if (std::abs(ahead.mean) <= std::max<double>(entropy_every, least)) return "with";
  return ahead.mean > 0 ? "before" : "after";
}

void print_loss(const std::vector<EntropyRun>& runs) {
  std::printf("%-9s", "loss");
  for (const double mark : marks) {
    std::vector<double> steps;
    for (const EntropyRun& run : runs) steps.push_back(lasting_crossing(run.losses, mark));
    std::printf("%4.0f +- %-9.0f", of(steps).mean, of(steps).deviation);
  }
  std::printf("\n");
}

void print_layer(const std::vector<EntropyRun>& runs, Index layer) {
  std::printf("layer %-3lld", static_cast<long long>(layer));
  int heads = 0;
  std::size_t counted = 0;  // seeds
  for (const double mark : marks) {
    std::vector<double> steps, ahead;
    heads = 0;
    for (const EntropyRun& run : runs) {
      const LayerCrossing crossing = layer_crossing(run, layer, mark);
      heads += crossing.heads;
      if (crossing.heads == 0) continue;
      steps.push_back(crossing.step);
      ahead.push_back(lasting_crossing(run.losses, mark) - crossing.step);
    }
    counted = steps.size();
    std::printf("%4.0f +- %-2.0f %-6s", of(steps).mean, of(steps).deviation, verdict(of(ahead)));
  }
  std::printf(" %d of %llu", heads, static_cast<unsigned long long>(4 * seeds));
  if (counted < seeds) std::printf(", %zu seeds", counted);
  std::printf("\n");
}

// "mean (least to most)".
std::string summary(const std::vector<double>& values, int decimals) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return formatted("%.*f (%.*f to %.*f)", decimals, of(values).mean, decimals, *least, decimals,
                   *most);
}

// Of each seed a run, and its control. A mark that some controls never pass: how many do.
void print_controls(const std::vector<EntropyRun>& runs, const std::vector<EntropyRun>& controls) {
  std::printf("%-9s", "uniform");
  for (const double mark : marks) {
    std::vector<double> steps;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (const auto step = control_crossing(controls[i], runs[i], mark)) steps.push_back(*step);
    }
    const std::string some = steps.size() < seeds ? formatted("in %zu", steps.size()) : "";
    if (steps.empty())
      std::printf("%4s    %-9s", "-", "");
    else
      std::printf("%4.0f +- %-2.0f %-6s", of(steps).mean, of(steps).deviation, some.c_str());
  }
  std::vector<double> last, more, undone;
  double apart = 0;  // at the first mark, in steps
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<double>&losses = runs[i].losses, &kept = controls[i].losses;
    last.push_back(kept.back());
    more.push_back(kept.back() - losses.back());
    undone.push_back(100 * more.back() / (losses.front() - losses.back()));
    const auto step = control_crossing(controls[i], runs[i], marks[0]);
    apart = std::max(apart, std::abs(step.value_or(INFINITY) - lasting_crossing(losses, marks[0])));
  }
  std::printf(
      "\n  the controls pass 10 %% at most %.1f steps earlier or later; loss at the end %s,\n",
      apart, summary(last, 2).c_str());
  std::printf("  higher by %s; of the fall %s %% stay undone\n", summary(more, 2).c_str(),
              summary(undone, 0).c_str());
}

void measure(const EntropyProblem& problem, Index steps, bool controlled, Progress& progress) {
  std::vector<EntropyRun> runs, controls;
  std::vector<double> last;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    runs.push_back(train_with_entropies(problem, steps, seed));
    last.push_back(runs.back().losses.back());
    progress.step();
    if (!controlled) continue;
    controls.push_back(train_with_entropies(problem, steps, seed, true));
    progress.step();
  }
  const auto [least, most] = std::minmax_element(last.begin(), last.end());
  std::printf("\n%s, %lld steps: loss from %.2f to %.2f (%.2f to %.2f)\n", problem.name.c_str(),
              static_cast<long long>(steps), runs[0].losses[0], of(last).mean, *least, *most);
  print_loss(runs);
  for (Index layer = 0; layer < problem.options.num_layers; ++layer) print_layer(runs, layer);
  if (controlled) print_controls(runs, controls);
}

}  // namespace

int main() try {
  std::printf("Experiment: when heads become sharp (takes about 3 minutes)\n\n");
  std::printf("Steps at four marks, %llu seeds; against the loss; heads that became sharp\n",
              static_cast<unsigned long long>(seeds));
  std::printf(
      "         10 %% of the way  25 %%            50 %%            75 %%            heads\n");
  const std::vector<EntropyProblem> problems = entropy_problems();
  Progress progress("training", static_cast<Index>(3 * problems.size() * seeds), "models");
  for (const Index times : {1, 2}) {
    for (const EntropyProblem& problem : problems) {
      measure(problem, times * problem.steps, times == 1, progress);
    }
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
