// Step 17 with ten seeds, seven learning rates and two budgets: does the division by sqrt(d_k)
// matter for learning, and why?
//
// Three ways to form scores: raw (not divided), scaled (divided by sqrt(d_k)), and raw scores whose
// matrices W_Q and W_K start smaller, by the fourth root of d_k each, so that the first scores
// are those of the scaled ones. Takes about five minutes on one thread.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index items = 16, width = 32, batch = 64, few = 300, many = 1500;
constexpr std::array rates = {0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0};
constexpr std::array adam_rates = {3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2};
constexpr std::uint64_t seeds = 10;

enum class Way { raw, scaled, raw_small };

const char* name_of(Way way) {
  return way == Way::raw ? "raw" : way == Way::scaled ? "scaled" : "raw, small start";
}

// 16 items with random features and values: a query shows an item's features with noise, and wants
// its value. Only W_Q and W_K learn.
struct Lookup {
  Tensor features, values;  // (items, width), (items, 8)

  explicit Lookup(Random& random)
      : features(random.normal({items, width})), values(random.normal({items, 8})) {}
};

struct Setting {
  Way way;
  Index d_k;
  bool adam;
  double rate;
};

// The loss of each of `many` steps.
std::vector<double> train(const Setting& setting, std::uint64_t seed) {
  Random random(seed);
  const Lookup lookup(random);
  const double d_k = static_cast<double>(setting.d_k);
  const double smaller = setting.way == Way::raw_small ? std::pow(d_k, -0.25) : 1;
  const double scale = setting.way == Way::scaled ? 1 / std::sqrt(d_k) : 1;
  const double deviation = smaller / std::sqrt(static_cast<double>(width));
  const Tensor w_q = random.normal({width, setting.d_k}, 0, deviation);  // (width, d_k)
  const Tensor w_k = random.normal({width, setting.d_k}, 0, deviation);  // (width, d_k)
  const Parameters learned = {{"w_q", w_q}, {"w_k", w_k}};
  Sgd descent(learned, {.learning_rate = setting.rate});
  Adam adam(learned, {.learning_rate = setting.rate});
  std::vector<double> losses;
  for (Index step = 0; step < many; ++step) {
    Indices wanted({batch}, std::vector<std::int32_t>(batch));  // (batch)
    for (auto& item : wanted.values) item = static_cast<std::int32_t>(random.randint(items));
    const Tensor noise = random.normal({batch, width}, 0, 0.3);  // (batch, width)
    Tape tape(learned);
    const Tensor q = matmul(embedding(lookup.features, wanted) + noise, w_q);  // (batch, d_k)
    const Tensor k = matmul(lookup.features, w_k);                             // (items, d_k)
    const Tensor weights = softmax(matmul(q, transpose(k)) * scale);           // (batch, items)
    // (), of (batch, 8) each
    const Tensor loss = mse(matmul(weights, lookup.values), embedding(lookup.values, wanted));
    const Gradients gradients = tape.backward(loss);
    setting.adam ? adam.step(gradients) : descent.step(gradients);
    losses.push_back(double{loss.item()});
  }
  return losses;
}

// Mean of the ten losses before step `end`; a run that broke off as NaN counts as infinite.
double last(const std::vector<double>& losses, Index end) {
  const double mean = std::accumulate(losses.begin() + end - 10, losses.begin() + end, 0.0) / 10;
  return std::isfinite(mean) ? mean : std::numeric_limits<double>::infinity();
}

struct Best {
  double rate = 0, mean = std::numeric_limits<double>::infinity();
  std::vector<double> by_seed;
};

void keep_better(Best& best, double rate, const std::vector<double>& by_seed) {
  const double mean = std::accumulate(by_seed.begin(), by_seed.end(), 0.0) / seeds;
  if (mean < best.mean) best = {rate, mean, by_seed};
}

void print_best(const char* steps, const Best& best) {
  const auto [least, most] = std::minmax_element(best.by_seed.begin(), best.by_seed.end());
  std::printf("  %s%8.5f %5.3f %5.3f %5.3f", steps, best.rate, best.mean, *least, *most);
}

template <std::size_t count>
void compare(bool adam, const std::array<double, count>& tried, const std::vector<Index>& sizes,
             Progress& progress) {
  std::printf("                              300 steps                   1500 steps\n");
  std::printf("                   d_k     rate  mean least  most     rate  mean least  most\n");
  for (const Way way : {Way::raw, Way::scaled, Way::raw_small}) {
    for (const Index d_k : sizes) {
      Best early, late;
      for (const double rate : tried) {
        std::vector<double> at_few, at_many;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
          const std::vector<double> losses = train({way, d_k, adam, rate}, seed);
          at_few.push_back(last(losses, few));
          at_many.push_back(last(losses, many));
          progress.step();
        }
        keep_better(early, rate, at_few);
        keep_better(late, rate, at_many);
      }
      std::printf("%-16s %5d", name_of(way), static_cast<int>(d_k));
      print_best("", early);
      print_best("", late);
      std::printf("\n");
    }
  }
}

}  // namespace

int main() try {
  std::printf("The division by sqrt(d_k) and learning: squared error, ten seeds, the best rate\n");
  Progress progress(
      "training",
      3 * static_cast<Index>(seeds) * static_cast<Index>(4 * rates.size() + adam_rates.size()),
      "runs");
  std::printf("\n1. Gradient descent, the best of 7 rates from 0.01 to 10\n");
  compare(false, rates, {8, 32, 128, 512}, progress);
  std::printf("\n2. Adam, the best of 7 rates from 0.00003 to 0.03\n");
  compare(true, adam_rates, {512}, progress);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
