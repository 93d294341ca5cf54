// Step 07. What do momentum and Adam add to gradient descent?
//
// New here: momentum, which remembers a direction, and Adam, which gives each weight a step of its
// own: both written out, and compared with the library's. A narrow valley shows what they are good
// for; the same valley, turned, shows what Adam depends on.
// Writes out/plots/phase0_adam.png; takes about 2 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/descent_pictures.hpp"
#include "course/valley.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

// ---- The rules: each changes w (2) by its gradient g (2)

using Rule = std::function<void(Tensor& w, const Tensor& g, double rate)>;

void plain(Tensor& w, const Tensor& g, double rate) { w = w - rate * g; }  // (2)

struct Momentum {
  Tensor velocity = Tensor::zeros({2});  // (2)

  void operator()(Tensor& w, const Tensor& g, double rate) {
    velocity = 0.9 * velocity + g;  // (2)
    w = w - rate * velocity;        // (2)
  }
};

struct OwnAdam {
  Tensor mean = Tensor::zeros({2}), square = Tensor::zeros({2});  // (2) each
  int t = 0;

  void operator()(Tensor& w, const Tensor& g, double rate) {
    ++t;
    mean = 0.9 * mean + (1 - 0.9) * g;                             // (2)
    square = 0.999 * square + (1 - 0.999) * g * g;                 // (2)
    const Tensor fair_mean = mean / (1 - std::pow(0.9, t));        // (2)
    const Tensor fair_square = square / (1 - std::pow(0.999, t));  // (2)
    w = w - rate * fair_mean / (sqrt(fair_square) + 1e-8);         // (2)
  }
};

struct Method {
  std::string name;
  Rule rule;  // has made no step
};
const std::vector<Method> methods = {
    {"plain", plain}, {"momentum", Momentum{}}, {"Adam", OwnAdam{}}};

// ---- Down the valley

// Both weights at each step.
WeightPath descend(const Method& method, const Valley& valley, double rate, int steps) {
  WeightPath path{method.name, {}, {}};
  Rule rule = method.rule;  // a copy, which begins anew
  Tensor w = valley.start;  // (2)
  for (int step = 0; step <= steps; ++step) {
    path.first.push_back(w.at({0}));
    path.second.push_back(w.at({1}));
    Tape tape({w});
    const Tensor g = tape.backward(valley.loss(w))[w];  // (2)
    rule(w, g, rate);
  }
  return path;
}

double distance(const WeightPath& path, std::size_t step, const Tensor& w) {
  return std::hypot(path.first[step] - w.at({0}), path.second[step] - w.at({1}));
}

// ---- What they do

// 100 steps by a rule and by the library's optimizer, which changes its tensor in place.
void compare(const Method& method, Optimizer&& library, const Valley& valley) {
  const WeightPath ours = descend(method, valley, library.learning_rate(), 100);
  const Tensor w = library.parameters()[0].value;  // (2)
  double worst = 0;
  for (std::size_t step = 0; step <= 100; ++step) {
    worst = std::max(worst, distance(ours, step, w));
    Tape tape({w});
    library.step(tape.backward(valley.loss(w)));
  }
  std::printf("%-9s differs from the library's by %s\n", method.name.c_str(),
              worst < 1e-5 ? "less than 1e-5" : "MORE THAN 1e-5");
}

void compare_all() {
  const Valley valley(10, false);
  const auto w = [&] { return Parameters{{"w", valley.start.clone()}}; };  // (2)
  std::printf("1. 100 steps of each rule\n");
  compare(methods[0], Sgd(w(), {.learning_rate = 0.1}), valley);
  compare(methods[1], Sgd(w(), {.learning_rate = 0.1, .momentum = 0.9}), valley);
  compare(methods[2], Adam(w(), {.learning_rate = 0.1}), valley);
}

void first_step() {
  std::printf("\n2. The first step at rate 0.1, for two gradients\n");
  for (const double size : {1.0, 1000.0}) {
    Tensor by_plain = Tensor::zeros({2}), by_adam = by_plain.clone();  // (2) each
    const Tensor g = Tensor({2}, {0.003, -0.00002}) * size;            // (2)
    plain(by_plain, g, 0.1);
    OwnAdam{}(by_adam, g, 0.1);
    std::printf("gradient %8.5f %8.5f   plain %8.5f %8.5f   Adam %8.5f %8.5f\n", g.at({0}),
                g.at({1}), by_plain.at({0}), by_plain.at({1}), by_adam.at({0}), by_adam.at({1}));
  }
}

constexpr int most_steps = 500;

// How many steps until w is within 0.02 of the goal, for good.
int steps_needed(const WeightPath& path, const Tensor& goal) {
  std::size_t steps = path.first.size();
  while (steps > 0 && distance(path, steps - 1, goal) < 0.02) --steps;
  return static_cast<int>(steps);
}

struct Best {
  double rate = 0;
  int steps = most_steps + 1;
};

Best best_of_rates(const Method& method, const Valley& valley) {
  Best best;
  for (double rate = 0.002; rate < 3; rate *= 2) {
    const int steps = steps_needed(descend(method, valley, rate, most_steps), valley.goal);
    if (steps < best.steps) best = {rate, steps};
  }
  return best;
}

// The end of a line of the tables: steps in valleys of three ratios.
void print_steps(const Method& method, bool turned, const Tensor& from) {
  for (const double ratio : {10.0, 30.0, 100.0}) {
    const Best best = best_of_rates(method, Valley(ratio, turned, from));
    std::printf(best.steps > most_steps ? "    >%d" : " %8d", std::min(best.steps, most_steps));
  }
  std::printf("\n");
}

void race() {
  std::printf("\n3. Steps until w is within 0.02 of the goal; the best of 11 learning rates\n");
  std::printf("one input is larger by     10       30      100\n");
  for (const Method& method : methods) {
    for (const bool turned : {false, true}) {
      std::printf("%-9s %-10s", method.name.c_str(), turned ? "turned" : "along axes");
      print_steps(method, turned, Tensor({1, 2}, {-1, -1}));
    }
  }
  // In these, both weights have the same way to go, 2; in the next ones they do not.
  std::printf("\n4. The same for Adam along the axes, from other starts than -1, -1\n");
  for (const Tensor& from :
       {Tensor({1, 2}, {-1, 0}), Tensor({1, 2}, {0.8, -1}), Tensor({1, 2}, {-5, 0.9})}) {
    std::printf("from %4.1f, %4.1f     ", from.at({0, 0}), from.at({0, 1}));
    print_steps(methods[2], false, from);
  }
}

void draw_paths() {
  std::vector<ValleyView> views;
  for (const bool turned : {false, true}) {
    const Valley valley(10, turned);
    const auto loss = [valley](const Tensor& w) { return double{valley.loss(w).item()}; };
    views.push_back({turned ? "The same valley, turned" : "A valley along one axis", loss,
                     valley.start, valley.goal});
    for (const Method& method : methods) {
      views.back().paths.push_back(descend(method, valley, best_of_rates(method, valley).rate, 40));
    }
  }
  plot::write_png(valleys_picture(views), "out/plots/phase0_adam.png");
}

}  // namespace

int main() try {
  std::printf("Step 07: momentum and Adam (takes about 2 seconds)\n\n");
  compare_all();
  first_step();
  race();
  draw_paths();
  std::printf("\nwrote out/plots/phase0_adam.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
