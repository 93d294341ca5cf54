// An experiment for step 51: how many heads can be removed, and by which order? Ten trainings of
// each task of step 26, for one model can be an exception; and ten of the models of step 23 (hidden
// word) and step 43 (next word). The first of the ten are the models of those steps.
// Takes about four minutes of processor time.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/hidden_word_heads.hpp"
#include "course/next_word_models.hpp"
#include "course/pruning.hpp"
#include "course/task_models.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;
using namespace tapestry::pruning;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr Index rows = 150;
constexpr std::array tasks = {TaskKind::copy, TaskKind::reverse, TaskKind::sort,
                              TaskKind::induction};
constexpr std::array orders = {"best of all", "measured anew", "cost alone", "gradient", "random"};
enum Order : std::size_t { best, anew, cost_alone, gradient, by_chance };

using Numbers = std::vector<double>;  // one of each seed

// What is measured of ten models.
struct Measured {
  Numbers whole, none;                      // quality; what no head keeps of it, in %
  Numbers in_layer_0, in_layer_1, by_mean;  // heads that are not missed alone
  Numbers alone;                            // of both layers
  std::array<Numbers, orders.size()> fewest, half;
  Numbers behind;                                        // of half, measured anew, the best choice
  int layer_goes = 0, is_below = 0, both = 0, more = 0;  // in so many models, by cost alone
};

void add(Measured& measured, const Subject& subject) {
  const std::vector<double> all = all_qualities(subject);
  const Curves c = curves(all, gate_gradients(subject));
  const Heads free = not_missed(subject);
  measured.whole.push_back(all.back());
  measured.none.push_back(100 * all[0] / all.back());
  measured.alone.push_back(std::popcount(free));
  measured.in_layer_0.push_back(std::popcount(free & 0xfU));
  measured.in_layer_1.push_back(std::popcount(free >> 4U));
  measured.by_mean.push_back(std::popcount(not_missed(subject, Replacement::mean)));
  const std::array by_order = {&c.best, &c.anew, &c.cost_alone, &c.gradient, &c.random};
  for (std::size_t order = 0; order < orders.size(); ++order) {
    const std::vector<double>& curve = *by_order[order];
    measured.fewest[order].push_back(static_cast<double>(needed(curve)));
    measured.half[order].push_back(100 * curve[curve.size() / 2] / curve.back());
  }
  measured.behind.push_back(measured.half[best].back() - measured.half[anew].back());
  const bool layer_goes = c.cost_alone[4] == all[0xf], is_below = c.cost_alone[4] < c.random[4];
  measured.layer_goes += layer_goes;
  measured.is_below += is_below;
  measured.both += layer_goes && is_below;
  measured.more += needed(c.cost_alone) > needed(c.best);
}

std::vector<Measured> measure_tasks(Progress& progress) {
  std::vector<Measured> result;
  for (const TaskKind kind : tasks) {
    const TinyTask task(kind, {.longest = 6});
    Random random(51);
    const Batch test = task.batch(Part::held_out, rows, random);  // (rows, length)
    const Index steps = kind == TaskKind::sort || kind == TaskKind::induction ? 1000 : 300;
    Measured& measured = result.emplace_back();
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      add(measured, {trained_on(task, init::lecun_normal, seed, steps, ""), test});
      progress.step();
    }
  }
  return result;
}

// Hidden words and next words, on the sentences of step 51.
std::vector<Measured> measure_grammar(Progress& progress) {
  Random random(51);
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  const Batch hidden = hidden_word_batch(vocabulary, 4 * rows, random);  // (600, 6)
  const Batch next = grammar.batch(vocabulary, rows, random);            // (150, 7)
  std::vector<Measured> result(2);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    add(result[0], {trained_heads(vocabulary, 41 + seed), hidden});
    progress.step();
    add(result[1], {trained_decoder(vocabulary, seed), next});
    progress.step();
  }
  return result;
}

std::string summary(const Numbers& numbers, int decimals) {
  double sum = 0;
  for (const double one : numbers) sum += one;
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return formatted("%.*f (%.0f to %.0f)", decimals, sum / double(numbers.size()), *low, *high);
}

// A row; `of` says which numbers of a task stand in it.
template <class F>
void print(const char* name, const std::vector<Measured>& measured, int decimals, F of) {
  std::printf("  %-14s", name);
  for (const Measured& task : measured) std::printf(" %15s", summary(of(task), decimals).c_str());
  std::printf("\n");
}

void print(const char* name, const std::vector<Measured>& measured, int Measured::* count) {
  std::printf("  %-22s", name);
  for (const Measured& task : measured)
    std::printf("%*d", &task == &measured[0] ? 8 : 16, task.*count);
  std::printf("\n");
}

void print_orders(const std::vector<Measured>& measured) {
  for (std::size_t order = 0; order < orders.size(); ++order) {
    print(orders[order], measured, 1, [&](const Measured& m) { return m.fewest[order]; });
  }
  std::printf("what half of the heads keep, in %%\n");
  for (std::size_t order = 0; order < orders.size(); ++order) {
    print(orders[order], measured, 0, [&](const Measured& m) { return m.half[order]; });
  }
}

void print_tasks(const std::vector<Measured>& measured) {
  std::printf("%-16s", "");
  for (const TaskKind kind : tasks) std::printf(" %15s", to_string(kind).c_str());
  std::printf("\nheads that are not missed alone\n");
  print("layer 0, of 4", measured, 1, [](const Measured& m) { return m.in_layer_0; });
  print("layer 1, of 4", measured, 1, [](const Measured& m) { return m.in_layer_1; });
  print("by means, of 8", measured, 1, [](const Measured& m) { return m.by_mean; });
  std::printf("the fewest of 8 heads that keep 95 %%\n");
  print_orders(measured);
  print("best - anew", measured, 1, [](const Measured& m) { return m.behind; });
  std::printf("in how many of ten models cost alone\n");
  print("removes layer 1 first", measured, &Measured::layer_goes);
  print("half is below random", measured, &Measured::is_below);
  print("does both", measured, &Measured::both);
  print("needs more than best", measured, &Measured::more);
}

// Of the 32 heads of the four tasks, by seed.
void print_together(const std::vector<Measured>& measured) {
  Numbers alone(seeds), by_mean(seeds), together(seeds);
  for (const Measured& m : measured) {
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      alone[seed] += m.in_layer_0[seed] + m.in_layer_1[seed];
      by_mean[seed] += m.by_mean[seed];
      together[seed] += 8 - m.fewest[best][seed];
    }
  }
  std::printf("of the 32 heads of a seed\n");
  std::printf("  not missed alone: %s, by means %s\n", summary(alone, 1).c_str(),
              summary(by_mean, 1).c_str());
  std::printf("  can go together: %s\n", summary(together, 1).c_str());
}

void print_grammar(const std::vector<Measured>& measured) {
  std::printf("\n%-16s %15s %15s\n", "", "hidden word", "next word");
  std::printf("quality, all heads");
  for (const Measured& m : measured) {
    const auto [low, high] = std::minmax_element(m.whole.begin(), m.whole.end());
    std::printf("   %.2f to %.2f", *low, *high);
  }
  std::printf("\n");
  print("none keeps, %", measured, 0, [](const Measured& m) { return m.none; });
  std::printf("heads that are not missed alone\n");
  print("of 4 and of 8", measured, 1, [](const Measured& m) { return m.alone; });
  print("by means", measured, 1, [](const Measured& m) { return m.by_mean; });
  std::printf("the fewest of 4 and of 8 heads that keep 95 %%\n");
  print_orders(measured);
}

}  // namespace

int main() try {
  std::printf("Ten trainings of each task: mean (least to most)\n");
  Progress progress("training", static_cast<Index>((tasks.size() + 2) * seeds), "models");
  const std::vector<Measured> measured = measure_tasks(progress);
  print_tasks(measured);
  print_together(measured);
  print_grammar(measure_grammar(progress));
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
