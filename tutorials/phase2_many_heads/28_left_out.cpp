// Step 28. What is each part of a transformer good for?
//
// New here: each part of step 27 is left out once, and the rest is trained to sort letters, with
// three seeds. Then scores without the division by the root of d_k, a smaller start, and dropout.
// The experiments 28_settings and 28_stability repeat it at other learning rates, starts, depths.
// Writes out/plots/phase2_left_out.png; takes about 15 seconds.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/left_out.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/dot_plot.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/schedules.hpp"

using namespace tapestry;

namespace {

struct Variant {
  std::string name;
  Parts parts;
  SortingRecipe recipe = {};
};

const std::vector<Variant> variants = {{"whole", {}},
                                       {"no attention", {.attention = false}},
                                       {"no feed-forward", {.feed_forward = false}},
                                       {"no residual", {.residual = false}},
                                       {"no layer norm", {.norm = false}},
                                       {"no positions", {.positions = false}},
                                       {"no division", {.divided = false}},
                                       {"start of 0.02", {}, {.initializer = init::normal}},
                                       {"dropout of 0.1", {}, {.dropout = 0.1}}};
constexpr std::uint64_t seeds = 3;
const double guessing = std::log(22.0);  // every word of the vocabulary is equally likely

void print_schedule() {
  std::printf("Learning rate at step");
  for (const Index step : {1, 20, 110, 200}) {
    const double rate = cosine_schedule(step, {.peak = 0.01, .warmup_steps = 20, .steps = 200});
    std::printf("%s %d: %.4f", step > 1 ? "," : "", static_cast<int>(step), rate);
  }
  std::printf("\n\n");
}

}  // namespace

int main() try {
  std::printf("Step 28: parts left out (takes about 15 seconds)\n\n");
  print_schedule();
  std::printf("Sorting: four layers, 200 steps; loss on new prompts (guessing %.2f),\n", guessing);
  std::printf("and how many of 100 answers are wholly right\n");
  std::printf("                   seed 1        seed 2        seed 3\n");
  plot::DotPlot chart;
  chart.title = "One thing changed at a time";
  chart.subtitle = "sorting 4 to 6 letters after 200 steps; a dot for each seed";
  chart.value_axis = {.name = "loss on new prompts", .log = true, .low = 0.01, .high = 5};
  chart.reference_lines = {{guessing, "guessing: ln 22 = 3.09"}};
  plot::RunSeries runs;
  Progress progress("training", static_cast<Index>(variants.size() * seeds), "models");
  for (const Variant& variant : variants) {
    std::printf("%-16s", variant.name.c_str());
    plot::Runs losses;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const SortingResult result = learn_to_sort(variant.parts, variant.recipe, seed);
      std::printf("  %6.3f %5.1f", result.loss, 100 * result.right);
      losses.values.push_back(result.loss);
      progress.step();
    }
    std::printf("\n");
    chart.labels.push_back(variant.name);
    runs.groups.push_back(losses);
  }
  chart.series = {runs};
  plot::write_png(plot::render(chart, 1080), "out/plots/phase2_left_out.png");
  std::printf("\nwrote out/plots/phase2_left_out.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
