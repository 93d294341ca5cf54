// An experiment for step 55: does what two layers of a mask reach decide what ten models learn? The
// masks of the step, and those of its question to the reader (near = 2); for the mask that reaches
// all distances and misses some answers, more training; and the sentences of the toy grammar.
//
// A seed decides the start of a model, and the texts that it learns from. Seed 1 is the first of
// the step. Takes about 80 seconds of processor time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/masked_runs.hpp"
#include "course/named_mask.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;
using namespace tapestry::masked_runs;

namespace {

constexpr std::uint64_t seeds = 10;
const std::vector<Index> distances = {1, 4, 6, 8, 9, 15, 20};

Mask near_or_strided(Index near) { return Mask::causal() & (Mask::local(near) | Mask::strided(4)); }
const std::vector<NamedMask> masks = {{"all before", Mask::causal()},
                                      {"local 4", Mask::causal() & Mask::local(4)},
                                      {"strided 4", Mask::causal() & Mask::strided(4)},
                                      {"local 4 or strided", near_or_strided(4)},
                                      {"local 2", Mask::causal() & Mask::local(2)},
                                      {"local 2 or strided", near_or_strided(2)}};

using Numbers = std::vector<double>;  // one of each seed

double least(const Numbers& numbers) { return *std::min_element(numbers.begin(), numbers.end()); }
double most(const Numbers& numbers) { return *std::max_element(numbers.begin(), numbers.end()); }

Numbers shares_of(const Mask& mask, Index distance, Index steps) {
  Numbers shares;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    shares.push_back(share_right(mask, distance, seed, 1 + seed, steps));
  }
  return shares;
}

void measure_reach(Progress& progress) {
  std::printf("1. Say the letter so many places back, share right: the least to the most of %d\n",
              static_cast<int>(seeds));
  std::printf("   seeds; guessing: 0.12; +: two layers can reach it\n%-18s", "");
  for (const Index distance : distances) std::printf("%10td ", distance);
  double worst_inside = 1, best_outside = 0;
  for (const auto& [name, mask] : masks) {
    std::printf("\n%-18s", name.c_str());
    for (const Index distance : distances) {
      const Numbers shares = shares_of(mask, distance, 220);
      const bool reach = in_reach(mask, distance);
      if (reach) worst_inside = std::min(worst_inside, least(shares));
      if (!reach) best_outside = std::max(best_outside, most(shares));
      std::printf(" %.2f-%.2f%s", least(shares), most(shares), reach ? "+" : " ");
      progress.step();
    }
  }
  std::printf("\nworst share within reach %.2f, best share out of reach %.2f\n", worst_inside,
              best_outside);
}

// Within reach, and yet not always right: which distances, which seeds, and is it the budget?
void measure_budgets(Progress& progress) {
  std::printf("\n2. Local 4 or strided, share right of each seed\nsteps, distance");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::printf(" %4d", static_cast<int>(seed));
  }
  for (const Index steps : {220, 1000}) {
    for (const Index distance : distances) {
      std::printf("\n%5td %9td", steps, distance);
      for (const double share : shares_of(masks[3].mask, distance, steps)) {
        std::printf(" %.2f", share);
      }
      progress.step();
    }
  }
  std::printf("\n");
}

void measure_grammar() {
  std::printf(
      "\n3. The next word of sentences, loss: mean (least to most); minus all before, of\n");
  std::printf("   the same seed\n");
  const std::vector<NamedMask> of_sentences = {{"all before", Mask::causal()},
                                               {"local 2", Mask::causal() & Mask::local(2)},
                                               {"local 1", Mask::causal() & Mask::local(1)},
                                               {"strided 2", Mask::causal() & Mask::strided(2)},
                                               {"itself only", Mask::local(0)}};
  const auto spread_of = [](const Numbers& numbers, const char* format) {
    double mean = 0;
    for (const double number : numbers) mean += number / static_cast<double>(seeds);
    return formatted(format, mean, least(numbers), most(numbers));
  };
  Numbers of_all;
  for (const auto& [name, mask] : of_sentences) {
    Numbers losses, above;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      losses.push_back(loss_on_sentences(mask, seed, 1 + seed));
      if (!of_all.empty()) above.push_back(losses.back() - of_all[seed - 1]);
    }
    std::printf("%-12s %s", name.c_str(), spread_of(losses, "%.3f (%.3f to %.3f)").c_str());
    if (!of_all.empty()) {
      std::printf("  %s", spread_of(above, "%+.3f (%+.3f to %+.3f)").c_str());
    } else {
      of_all = losses;
    }
    std::printf("\n");
  }
}

}  // namespace

int main() try {
  Progress progress("training", std::ssize(distances) * (std::ssize(masks) + 2), "cells");
  measure_reach(progress);
  measure_budgets(progress);
  measure_grammar();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
