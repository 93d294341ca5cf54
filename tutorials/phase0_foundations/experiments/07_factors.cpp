// Step 07: in the turned valley, is momentum better than Adam if both may choose their factors?
//
// Three ratios and four starts; for each rule the fewest steps over learning rates, first with the
// usual factors, then with the best of six factors of momentum and of twelve pairs of Adam. Takes
// about a minute of processor time.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/valley.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr int most_steps = 1000;
const std::vector<double> ratios = {10, 30, 100};
const std::vector<Tensor> starts = {Tensor({1, 2}, {-1, -1}), Tensor({1, 2}, {-1, 0}),
                                    Tensor({1, 2}, {0.8, -1}), Tensor({1, 2}, {-5, 0.9})};

// Steps until w is within 0.02 of the goal, for good; most_steps + 1: not within most_steps.
int steps_needed(const Valley& valley, const Tensor& w, Optimizer& optimizer) {
  int needed = 0;
  for (int step = 0; step <= most_steps; ++step) {
    const double distance =
        std::hypot(w.at({0}) - valley.goal.at({0}), w.at({1}) - valley.goal.at({1}));
    if (!(distance < 0.02)) needed = step + 1;
    if (!std::isfinite(distance)) return most_steps + 1;
    Tape tape({w});
    optimizer.step(tape.backward(valley.loss(w)));
  }
  return needed;
}

struct Best {
  int steps = most_steps + 1;
  std::string factors = "-";
  double rate = 0;
};

// The best of 27 learning rates, from 0.002 to 16, each the last one times the root of 2.
template <class MakeOptimizer>
void try_rates(Best& best, const Valley& valley, const std::string& factors,
               const MakeOptimizer& make) {
  for (int i = 0; i < 27; ++i) {
    const double rate = 0.002 * std::pow(2, i / 2.0);
    const Tensor w = valley.start.clone();  // (2)
    auto optimizer = make(Parameters{{"w", w}}, rate);
    const int steps = steps_needed(valley, w, optimizer);
    if (steps < best.steps) best = {steps, factors, rate};
  }
}

Best by_momentum(const Valley& valley, const std::vector<double>& factors) {
  Best best;
  for (const double factor : factors) {
    try_rates(best, valley, formatted("%.2f", factor), [&](const Parameters& w, double rate) {
      return Sgd(w, {.learning_rate = rate, .momentum = factor});
    });
  }
  return best;
}

Best by_adam(const Valley& valley, const std::vector<double>& of_mean,
             const std::vector<double>& of_square) {
  Best best;
  for (const double mean : of_mean) {
    for (const double square : of_square) {
      try_rates(best, valley, formatted("%.2f %.3f", mean, square),
                [&](const Parameters& w, double rate) {
                  return Adam(w, {.learning_rate = rate, .beta1 = mean, .beta2 = square});
                });
    }
  }
  return best;
}

std::string text(const Best& best) {
  return best.steps > most_steps ? formatted(">%d", most_steps) : formatted("%d", best.steps);
}

}  // namespace

int main() try {
  std::printf("Turned valleys: steps until w is within 0.02 of the goal, the best of 27 rates\n");
  std::printf("                  usual factors   the best of six factors, or of twelve pairs\n");
  std::printf("ratio  start      momentum  Adam  momentum  factor rate   Adam  factors    rate\n");
  Progress progress("descending", static_cast<Index>(ratios.size() * starts.size()), "valleys");
  int fewer = 0;
  for (const double ratio : ratios) {
    for (const Tensor& start : starts) {
      const Valley valley(ratio, true, start);
      const Best usual = by_momentum(valley, {0.9}), adam = by_adam(valley, {0.9}, {0.999});
      const Best momentum = by_momentum(valley, {0.5, 0.7, 0.8, 0.9, 0.95, 0.98});
      const Best pair = by_adam(valley, {0.5, 0.8, 0.9, 0.95}, {0.9, 0.99, 0.999});
      std::printf("%5.0f  %4.1f, %4.1f %9s %5s %9s    %4s %6.3f %5s %10s %6.3f\n", ratio,
                  start.at({0, 0}), start.at({0, 1}), text(usual).c_str(), text(adam).c_str(),
                  text(momentum).c_str(), momentum.factors.c_str(), momentum.rate,
                  text(pair).c_str(), pair.factors.c_str(), pair.rate);
      fewer += momentum.steps < pair.steps ? 1 : 0;
      progress.step();
    }
  }
  std::printf("momentum needs fewer steps than Adam, each with its best factors: %d of %d\n", fewer,
              static_cast<int>(ratios.size() * starts.size()));
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
