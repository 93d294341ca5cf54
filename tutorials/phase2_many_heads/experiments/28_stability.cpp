// Four things are said to keep training stable: scores divided by the root of d_k, layer norm, the
// size of the parameters at the start, dropout. Each alone, and some together, with ten seeds each,
// at three learning rates, three starts and two depths. Takes about 6 minutes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/left_out.hpp"
#include "course/timing.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;

struct Variant {
  const char* name;
  Parts parts;
  double dropout = 0;
};

const std::vector<Variant> variants = {
    {"whole", {}},
    {"no division", {.divided = false}},
    {"no layer norm", {.norm = false}},
    {"neither", {.divided = false, .norm = false}},
    {"dropout of 0.1", {}, 0.1},
};

struct Start {
  const char* name;
  Initializer initializer;
};

const Start usual = {"1/sqrt(in)", init::lecun_normal};
const Start small = {"0.02", init::normal};
const Start large = {"3/sqrt(in)", [](const Shape& shape, Random& random) {
                       return 3 * init::lecun_normal(shape, random);  // shape
                     }};

// Eight columns wide; training broke down where the loss is above 100 or no number.
std::string text(double loss) { return loss < 100 ? formatted("%8.3f", loss) : "   > 100"; }

void print_group(const Start& start, SortingRecipe recipe) {
  recipe.initializer = start.initializer;
  std::printf("\n%d layers, start of %s, learning rate %.3f\n", static_cast<int>(recipe.layers),
              start.name, recipe.learning_rate);
  std::printf("                      loss on new prompts       wholly right, %%\n");
  std::printf("                    lowest  median  highest      median\n");
  for (const Variant& variant : variants) {
    recipe.dropout = variant.dropout;
    std::vector<double> losses, right;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const SortingResult result = learn_to_sort(variant.parts, recipe, seed);
      losses.push_back(result.loss);
      right.push_back(100 * result.right);
    }
    const auto [lowest, highest] = std::minmax_element(losses.begin(), losses.end());
    std::printf("%-18s%s%s %s %11.1f\n", variant.name, text(*lowest).c_str(),
                text(median(losses)).c_str(), text(*highest).c_str(), median(right));
  }
}

}  // namespace

int main() try {
  std::printf("Sorting 4 to 6 letters, 200 steps; %d seeds each (guessing: loss 3.09)\n",
              static_cast<int>(seeds));
  for (const Start& start : {small, usual, large}) {
    for (const double rate : {0.003, 0.01, 0.03}) print_group(start, {.learning_rate = rate});
  }
  print_group(usual, {.layers = 12});
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
