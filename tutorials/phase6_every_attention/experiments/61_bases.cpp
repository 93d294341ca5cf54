// An experiment for step 61: what limits rotary positions, the length of training or the base of
// the angles? Other bases, what words see, and longer texts in training. Ten seeds, and five with
// five times the training.
// Takes about two minutes of processor time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "course/beyond_length.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;
using namespace tapestry::beyond_length;

namespace {

using Models = std::vector<Transformer>;  // one for each seed

constexpr Index steps = 300;
const std::vector<double> bases = {1e2, 1e3, 1e4, 3e4, 1e5, 1e6, 1e8};
const std::vector<Index> longer = {24, 32, 48, 64, 96};

Models trained_models(Task task, Positions positions, Index seeds, Index budget, double base,
                      Index length = trained) {
  Models models;
  for (Index seed = 0; seed < seeds; ++seed) {
    models.push_back(trained_model(task, positions, seed, budget, base, length));
  }
  return models;
}

std::vector<double> shares(const Models& models, Task task, Index length, const Mask& mask = {}) {
  std::vector<double> all;
  for (const Transformer& model : models) all.push_back(share_right(model, task, length, mask));
  return all;
}

void print(const std::vector<double>& shares) { std::printf("%s", mean_and_range(shares).c_str()); }

void end_line() {
  std::printf("\n");
  std::fflush(stdout);
}

void print_lengths(const Models& models, Task task) {
  for (const Index length : longer) print(shares(models, task, length));
  end_line();
}

void print_head(const char* of_columns) {
  std::printf("\n%-13s", of_columns);
  for (const Index length : longer) std::printf("  %4d words ", int(length));
  std::printf("\n");
}

// At 64 words.
void print_sights(const Models& models, Task task, double base, Index budget) {
  std::printf("%-8.0f%6d%7d", base, int(budget), int(models.size()));
  for (const NamedMask& seen : masks()) {
    std::printf("    ");
    print(shares(models, task, 64, seen.mask));
  }
  end_line();
}

void compare(Task task) {
  std::printf("\n%s, trained on texts of 16 words", task_names[task]);
  print_head("base     half");
  std::vector<Models> by_base;
  double least = 1;  // at the length of training
  for (const double base : bases) {
    by_base.push_back(trained_models(task, Positions::rotary, 10, steps, base));
    const std::vector<double> trained_shares = shares(by_base.back(), task, trained);
    least = std::min(least, *std::min_element(trained_shares.begin(), trained_shares.end()));
    std::printf("%-9.0f %3.0f", base, std::numbers::pi * std::pow(base, 2.0 / 8));
    print_lengths(by_base.back(), task);
  }
  std::printf("Smallest share at 16 words: %.0f\n", 100 * least);

  std::printf("\n%s, at 64 words, if a word sees less\n", task_names[task]);
  std::printf("base     steps  seeds    16 words         16, 16-31 back   16, 32-47 back\n");
  print_sights(by_base[2], task, bases[2], steps);
  const Models trained_more = trained_models(task, Positions::rotary, 5, 5 * steps, bases[2]);
  print_sights(trained_more, task, bases[2], 5 * steps);
  for (const std::size_t i : {0, 4}) print_sights(by_base[i], task, bases[i], steps);

  std::printf("\n%s, base 10000, trained on texts of 32 words", task_names[task]);
  print_head("");
  for (const Positions positions : {Positions::rotary, Positions::relative}) {
    std::printf("%-13s", schemes[std::size_t(positions)].c_str());
    print_lengths(trained_models(task, positions, 10, steps, bases[2], 32), task);
  }
}

}  // namespace

int main() try {
  std::printf("Experiment 61_bases: rotary positions, 300 steps, 10 seeds. Right answers at the\n");
  std::printf("last 8 words, per cent: mean of the seeds, smallest and largest. half: positions\n");
  std::printf("to half a turn of the second of a head's four pairs\n");
  for (const Task task : {three_back, latest}) compare(task);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
