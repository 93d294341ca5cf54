// Step 54. How many heads? Which matters more: how many there are, or how wide each is?
//
// New here: step 25 compared what one and several heads reach; here is how many steps they need
// until 99 % of held-out answers are right, on a task that two layers have to solve together
// (induction). At one width of the model more heads are narrower heads: d_k = d_v = 64 / heads. So
// two settings follow that change one thing alone. All of it with two learning rates: does the
// answer depend on them? And what a step costs. Three seeds show that seeds differ; what holds over
// twelve is in experiments/54_heads.cpp.
// Writes out/plots/phase5_head_counts.png; takes about 30 seconds.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "course/head_counts.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr Index limit = 800;
constexpr std::uint64_t seeds = 3;
constexpr std::array rates = {3e-3, 1e-3};
// The last two: heads with narrow keys, and many heads with wide ones; d_v does not change.
const std::vector<HeadSetting> settings = {
    {1, 64, 64}, {4, 16, 16}, {16, 4, 4}, {4, 4, 16}, {16, 16, 4}};
using Seeds = std::vector<StepsToLearn>;

std::string name(const HeadSetting& setting) {
  return std::to_string(setting.heads) + (setting.heads == 1 ? " head, " : " heads, ") + "d_k " +
         std::to_string(setting.d_k) + ", d_v " + std::to_string(setting.d_v);
}

void print(const TinyTask& task, const HeadSetting& setting, const Seeds& runs) {
  std::printf("%5lld %4lld %4lld %8lld   ", static_cast<long long>(setting.heads),
              static_cast<long long>(setting.d_k), static_cast<long long>(setting.d_v),
              static_cast<long long>(model_with_heads(task, setting, 1).num_parameters()));
  for (const StepsToLearn& run : runs) {
    std::printf(" %5s", run.done ? std::to_string(run.steps).c_str() : "-");
  }
  std::printf("\n");
}

double milliseconds(const Seeds& runs) {  // of a step, the fastest run
  const auto less = [](const StepsToLearn& a, const StepsToLearn& b) {
    return a.milliseconds < b.milliseconds;
  };
  return std::min_element(runs.begin(), runs.end(), less)->milliseconds;
}

// Whether the fastest run of a was not faster than the slowest of b.
bool all_slower(const Seeds& a, const Seeds& b) {
  const auto by_steps = [](const StepsToLearn& x, const StepsToLearn& y) {
    return x.steps < y.steps;
  };
  return std::min_element(a.begin(), a.end(), by_steps)->steps >
         std::max_element(b.begin(), b.end(), by_steps)->steps;
}

void print_answer(double rate, const std::vector<Seeds>& results) {
  std::printf("\nrate %g, each seed slower than every seed of 4 heads with d_k 16:", rate);
  bool none = true;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (!all_slower(results[i], results[1])) continue;
    std::printf("\n  %s", name(settings[i]).c_str());
    none = false;
  }
  std::printf("%s", none ? " none" : "");
}

// A curve for each seed; it ends where 99 % are right, or at the limit.
plot::LineChart chart(const HeadSetting& setting, double rate, const Seeds& runs) {
  plot::LineChart result;
  result.title = name(setting);
  result.subtitle = "rate " + formatted("%g", rate);
  result.x_axis = {.name = "step", .low = 0, .high = static_cast<double>(limit)};
  result.y_axis = {.name = "share of answers wholly right", .low = 0, .high = 1};
  for (const StepsToLearn& run : runs) {
    plot::Series series{"", {}, run.right};
    for (std::size_t i = 1; i <= run.right.size(); ++i) {
      series.x.push_back(20 * static_cast<double>(i));
    }
    series.colour = plot::series_colour(0);
    result.series.push_back(series);
    if (!run.done) continue;
    result.series.push_back({"", {series.x.back()}, {series.y.back()}, false, true});
    result.series.back().colour = plot::series_colour(1);
  }
  return result;
}

using Results = std::array<std::vector<Seeds>, rates.size()>;  // of each setting

void draw(const Results& results) {
  plot::Canvas canvas(1560, 790);
  canvas.text({24, 34}, "Learning induction, three seeds each; a dot: 99 % are right",
              {.size = 18, .bold = true});
  const plot::Rect rest{16, 50, canvas.width() - 32, canvas.height() - 66};
  const std::vector<plot::Rect> areas =
      plot::panels(rest, static_cast<int>(rates.size()), static_cast<int>(settings.size()));
  for (std::size_t r = 0; r < rates.size(); ++r) {
    for (std::size_t i = 0; i < settings.size(); ++i) {
      plot::draw(canvas, areas[r * settings.size() + i],
                 chart(settings[i], rates[r], results[r][i]));
    }
  }
  plot::write_png(canvas, "out/plots/phase5_head_counts.png");
}

std::vector<Seeds> train_all(const TinyTask& task, double rate, Progress& progress) {
  std::printf("\nrate %g\n", rate);
  std::printf("heads  d_k  d_v  learned     seeds 1 to %llu   (-: not in %lld steps)\n",
              static_cast<unsigned long long>(seeds), static_cast<long long>(limit));
  std::vector<Seeds> results;
  for (const HeadSetting& setting : settings) {
    results.emplace_back();
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      results.back().push_back(steps_to_learn(task, setting, seed, limit, rate));
      progress.step();
    }
    print(task, setting, results.back());
  }
  return results;
}

}  // namespace

int main() try {
  std::printf("Step 54: how many heads (takes about 30 seconds)\n\n");
  std::printf("1. Induction, two layers: steps until 99 %% of 200 held-out answers are right\n");
  const TinyTask task(TaskKind::induction, {.shortest = 3, .longest = 5});
  Progress progress("training", static_cast<Index>(rates.size() * settings.size() * seeds),
                    "models");
  Results results;
  for (std::size_t r = 0; r < rates.size(); ++r) results[r] = train_all(task, rates[r], progress);
  std::printf("\n2. Time of a step, in those of one head; on this machine\n");
  for (std::size_t i = 0; i < settings.size(); ++i) {
    std::printf("%-26s %4.1f\n", name(settings[i]).c_str(),
                milliseconds(results[0][i]) / milliseconds(results[0][0]));
  }
  std::printf("\nANSWER");
  for (std::size_t r = 0; r < rates.size(); ++r) print_answer(rates[r], results[r]);
  draw(results);
  std::printf("\n\nwrote out/plots/phase5_head_counts.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
