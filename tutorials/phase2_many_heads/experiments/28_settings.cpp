// Does what step 28 finds hold at other settings? Ten seeds each: four learning rates, another
// start, other depths, more steps; layer norm after the sums, RMS norm, a rate that does not fall,
// no warm-up; dropout with few prompts and with always new ones. Takes about 7 minutes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/left_out.hpp"
#include "course/timing.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;

struct Variant {
  std::string name;
  Parts parts;
};

const std::vector<Variant> main_parts = {{"whole", {}},
                                         {"no feed-forward", {.feed_forward = false}},
                                         {"no residual", {.residual = false}},
                                         {"no layer norm", {.norm = false}}};
const std::vector<Variant> other_parts = {{"no attention", {.attention = false}},
                                          {"no positions", {.positions = false}},
                                          {"norm after sums", {.post_norm = true}},
                                          {"no activation", {.activation = false}}};

void print_heading(const char* what) {
  std::printf("\n%s\n", what);
  std::printf("                      loss on new prompts       wholly right, %%\n");
  std::printf("                    lowest  median  highest      median\n");
}

// The losses of ten seeds, and the median share of right answers.
void print_row(const std::string& name, const Parts& parts, const SortingRecipe& recipe) {
  std::vector<double> losses, right, training;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SortingResult result = learn_to_sort(parts, recipe, seed);
    losses.push_back(result.loss);
    right.push_back(100 * result.right);
    training.push_back(result.training);
  }
  const auto [lowest, highest] = std::minmax_element(losses.begin(), losses.end());
  std::printf("%-18s %7.3f %7.3f %8.3f %11.1f", name.c_str(), *lowest, median(losses), *highest,
              median(right));
  if (recipe.batches > 0) std::printf("   training loss %.3f", median(training));
  std::printf("\n");
}

void learning_rates() {
  for (const double rate : {0.001, 0.003, 0.01, 0.03}) {
    const std::string title = "learning rate " + std::to_string(rate).substr(0, 5);
    print_heading((title + ": four layers, 200 steps, weights start at 1/sqrt(in)").c_str());
    SortingRecipe recipe{.learning_rate = rate};
    for (const Variant& v : main_parts) print_row(v.name, v.parts, recipe);
    for (const Variant& v : other_parts) print_row(v.name, v.parts, recipe);
    recipe.norm_kind = NormKind::rms;
    print_row("RMS norm", {}, recipe);
    recipe.norm_kind = NormKind::layer;
    recipe.falls = false;
    print_row("constant rate", {}, recipe);
    recipe.falls = true;
    recipe.warmup_steps = 0;
    print_row("no warm-up", {}, recipe);
    print_row("after, no warm-up", {.post_norm = true}, recipe);
  }
}

void other_settings() {
  for (const double rate : {0.003, 0.01}) {
    const std::string title = "weights start at 0.02; learning rate " + std::to_string(rate);
    print_heading(title.substr(0, 42).c_str());
    for (const Variant& v : main_parts) {
      print_row(v.name, v.parts, {.learning_rate = rate, .initializer = init::normal});
    }
  }
  for (const Index layers : {1, 2, 8, 12}) {
    print_heading((std::to_string(layers) + " layers, learning rate 0.01").c_str());
    for (const Variant& v : main_parts) print_row(v.name, v.parts, {.layers = layers});
  }
  print_heading("600 steps, learning rate 0.01, warm-up 60");
  for (const Variant& v : main_parts) {
    print_row(v.name, v.parts, {.steps = 600, .warmup_steps = 60});
  }
}

void dropouts() {
  for (const Index batches : {8, 0}) {
    print_heading(batches > 0 ? "dropout; 8 batches read again and again, 400 steps"
                              : "dropout; new prompts at every step, 400 steps");
    for (const double dropout : {0.0, 0.1, 0.3}) {
      const std::string name = "dropout " + std::to_string(dropout).substr(0, 3);
      print_row(name, {},
                {.steps = 400, .warmup_steps = 40, .dropout = dropout, .batches = batches});
    }
  }
}

}  // namespace

int main() try {
  std::printf("Sorting 4 to 6 letters, parts left out; %d seeds each (guessing: loss 3.09)\n",
              static_cast<int>(seeds));
  learning_rates();
  other_settings();
  dropouts();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
