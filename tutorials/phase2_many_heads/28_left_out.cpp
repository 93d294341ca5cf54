// Step 28. What is each part of a transformer good for?
//
// New here: each part of step 27 is left out once, and the rest is trained to sort letters, with
// three seeds. Then scores without the division by the root of d_k, a smaller start, and dropout.
// The best guess without attention is counted, too.
// The experiments 28_settings and 28_stability repeat it at other learning rates, starts, depths.
// Writes out/plots/phase2_left_out.png; takes about 15 seconds.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <utility>
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

constexpr std::size_t letters = 16, end = letters;

// How often each letter, or the end, comes next: at each place, behind each letter that is read.
using Next = std::map<std::pair<std::size_t, std::size_t>, std::array<double, letters + 1>>;

// Counts the sorted answers of this length that begin with `said`.
void count(Next& next, std::size_t length, std::vector<std::size_t>& said) {
  for (std::size_t i = said.empty() ? 0 : said.back(); i < letters && said.size() < length; ++i) {
    said.push_back(i);
    count(next, length, said);
    said.pop_back();
  }
  if (said.size() < length) return;
  double prompts = 1, alike = 1;  // prompts: which have this answer, as a share of all
  for (std::size_t i = 0; i < length; ++i) {
    alike = i > 0 && said[i] == said[i - 1] ? alike + 1 : 1;
    prompts *= static_cast<double>(i + 1) / alike / letters;
  }
  for (std::size_t i = 0; i <= length; ++i) {  // the answer stands behind <bos>, prompt and =>
    const std::size_t read = i == 0 ? end : said[i - 1];
    next[{length + 1 + i, read}][i < length ? said[i] : end] += prompts;
  }
}

// The least loss of who knows no more than the letter just read and its place.
double loss_without_looking() {
  Next next;
  std::vector<std::size_t> said;
  for (const std::size_t length : {4, 5, 6}) count(next, length, said);
  double loss = 0, all = 0;
  for (const auto& [read, counts] : next) {
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
    all += sum;
    for (const double one : counts) loss -= one > 0 ? one * std::log(one / sum) : 0;
  }
  return loss / all;
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
  std::printf("\nThe best guess from a position's own letter and place alone: %.3f\n",
              loss_without_looking());
  chart.series = {runs};
  plot::write_png(plot::render(chart, 1080), "out/plots/phase2_left_out.png");
  std::printf("\nwrote out/plots/phase2_left_out.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
