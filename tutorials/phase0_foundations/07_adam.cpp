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
#include <utility>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

// ---- The rules: each changes w (2) by its gradient g (2)

struct Plain {
  void step(Tensor& w, const Tensor& g, double rate) { w = w - rate * g; }  // (2)
};

struct Momentum {
  Tensor velocity = Tensor::zeros({2});  // (2)

  void step(Tensor& w, const Tensor& g, double rate) {
    velocity = 0.9 * velocity + g;  // (2)
    w = w - rate * velocity;        // (2)
  }
};

struct OwnAdam {
  Tensor mean = Tensor::zeros({2}), square = Tensor::zeros({2});  // (2) each
  int t = 0;

  void step(Tensor& w, const Tensor& g, double rate) {
    ++t;
    mean = 0.9 * mean + (1 - 0.9) * g;                             // (2)
    square = 0.999 * square + (1 - 0.999) * g * g;                 // (2)
    const Tensor fair_mean = mean / (1 - std::pow(0.9, t));        // (2)
    const Tensor fair_square = square / (1 - std::pow(0.999, t));  // (2)
    w = w - rate * fair_mean / (sqrt(fair_square) + 1e-8);         // (2)
  }
};

// ---- The valley

// A linear neuron of two inputs, one `ratio` times as large as the other; turned: the same after a
// rotation of the inputs by 45 degrees, and of the weights, so that the loss has the same shape.
struct Valley {
  Tensor x, start, goal;  // (256, 2), (2), (2)

  Valley(double ratio, bool turned, double first = -1, double second = -1) {
    Random random(5);
    const Tensor inputs = random.normal({256, 2}) * Tensor({2}, {2, 2 / ratio});  // (256, 2)
    const double c = turned ? std::sqrt(0.5) : 1, s = turned ? std::sqrt(0.5) : 0;
    const Tensor rotation({2, 2}, {c, s, -s, c});  // (2, 2)
    const auto rotated = [&](double a, double b) {
      return reshape(matmul(Tensor({1, 2}, {a, b}), rotation), {2});  // (2)
    };
    x = matmul(inputs, rotation);    // (256, 2)
    start = rotated(first, second);  // (2)
    goal = rotated(1, 1);            // (2)
  }

  Tensor loss(const Tensor& w) const {
    return mse(matmul(x, reshape(w, {2, 1})), matmul(x, reshape(goal, {2, 1})));  // ()
  }
};

struct Path {
  std::vector<double> losses, first, second;  // by step: the loss, and both weights
};

template <class Rule>
Path descend(Rule rule, const Valley& valley, double rate, int steps) {
  Path path;
  Tensor w = valley.start;  // (2)
  for (int step = 0; step <= steps; ++step) {
    Tape tape({w});
    const Tensor loss = valley.loss(w);  // ()
    path.losses.push_back(loss.item());
    path.first.push_back(w.at({0}));
    path.second.push_back(w.at({1}));
    const Tensor g = tape.backward(loss)[w];  // (2)
    rule.step(w, g, rate);
  }
  return path;
}

using Descent = std::function<Path(const Valley& valley, double rate, int steps)>;

struct Method {
  std::string name;
  Descent descend;
};

const std::vector<Method> methods = {
    {"plain", [](const Valley& v, double r, int n) { return descend(Plain{}, v, r, n); }},
    {"momentum", [](const Valley& v, double r, int n) { return descend(Momentum{}, v, r, n); }},
    {"Adam", [](const Valley& v, double r, int n) { return descend(OwnAdam{}, v, r, n); }}};

// ---- What they do

// 100 steps by a rule and by the library's optimizer, which changes its tensor in place.
void compare(const Method& method, Optimizer& library, const Tensor& w, const Valley& valley) {
  const Path ours = method.descend(valley, library.learning_rate(), 100);
  double worst = 0;
  for (std::size_t step = 0; step <= 100; ++step) {
    worst = std::max(
        {worst, std::abs(ours.first[step] - w.at({0})), std::abs(ours.second[step] - w.at({1}))});
    Tape tape({w});
    library.step(tape.backward(valley.loss(w)));
  }
  std::printf("%-9s differs from the library's by %s\n", method.name.c_str(),
              worst < 1e-5 ? "less than 1e-5" : "MORE THAN 1e-5");
}

void compare_all() {
  const Valley valley(10, false);
  std::printf("1. 100 steps of each rule\n");
  const Tensor a = valley.start.clone(), b = a.clone(), c = a.clone();  // (2) each
  Sgd plain({{"w", a}}, {.learning_rate = 0.1});
  compare(methods[0], plain, a, valley);
  Sgd momentum({{"w", b}}, {.learning_rate = 0.1, .momentum = 0.9});
  compare(methods[1], momentum, b, valley);
  Adam adam({{"w", c}}, {.learning_rate = 0.1});
  compare(methods[2], adam, c, valley);
}

void first_step() {
  std::printf("\n2. The first step at rate 0.1, for two gradients\n");
  for (const double size : {1.0, 1000.0}) {
    Tensor plain = Tensor::zeros({2}), adam = plain.clone();  // (2) each
    const Tensor g = Tensor({2}, {0.003, -0.00002}) * size;   // (2)
    Plain{}.step(plain, g, 0.1);
    OwnAdam{}.step(adam, g, 0.1);
    std::printf("gradient %8.5f %8.5f   plain %8.5f %8.5f   Adam %8.5f %8.5f\n", g.at({0}),
                g.at({1}), plain.at({0}), plain.at({1}), adam.at({0}), adam.at({1}));
  }
}

constexpr int most_steps = 500;

// How many steps until w is within 0.02 of the goal, for good.
int steps_needed(const Path& path, const Tensor& goal) {
  const auto is_near = [&](std::size_t i) {
    return std::hypot(path.first[i] - goal.at({0}), path.second[i] - goal.at({1})) < 0.02;
  };
  std::size_t steps = path.losses.size();
  while (steps > 0 && is_near(steps - 1)) --steps;
  return static_cast<int>(steps);
}

struct Best {
  double rate = 0;
  int steps = most_steps + 1;
};

Best best_of_rates(const Method& method, const Valley& valley) {
  Best best;
  for (double rate = 0.002; rate < 3; rate *= 2) {
    const int steps = steps_needed(method.descend(valley, rate, most_steps), valley.goal);
    if (steps < best.steps) best = {rate, steps};
  }
  return best;
}

void race() {
  std::printf("\n3. Steps until w is within 0.02 of the goal; the best of 11 learning rates\n");
  std::printf("one input is larger by     10       30      100\n");
  for (const Method& method : methods) {
    for (const bool turned : {false, true}) {
      std::printf("%-9s %-10s", method.name.c_str(), turned ? "turned" : "along axes");
      for (const double ratio : {10.0, 30.0, 100.0}) {
        const Best best = best_of_rates(method, Valley(ratio, turned));
        std::printf(best.steps > most_steps ? "    >%d" : " %8d", std::min(best.steps, most_steps));
      }
      std::printf("\n");
    }
  }
}

// Above, both weights have the same way to go, 2; here they do not.
void other_starts() {
  std::printf("\n4. The same for Adam along the axes, from other starts than -1, -1\n");
  const std::vector<std::pair<double, double>> starts = {{-1, 0}, {0.8, -1}, {-5, 0.9}};
  for (const auto& [first, second] : starts) {
    std::printf("from %4.1f, %4.1f     ", first, second);
    for (const double ratio : {10.0, 30.0, 100.0}) {
      const Best best = best_of_rates(methods[2], Valley(ratio, false, first, second));
      std::printf(best.steps > most_steps ? "    >%d" : " %8d", std::min(best.steps, most_steps));
    }
    std::printf("\n");
  }
}

void contours(plot::LineChart& chart, const Valley& valley) {
  for (const double level : {0.01, 0.1, 1.0, 4.0}) {
    plot::Series ring;
    for (int i = 0; i <= 600; ++i) {
      const double angle = i * 6.283185307 / 600;
      const Tensor d({2}, {std::cos(angle), std::sin(angle)});  // (2)
      // Along d the loss is a parabola with its bottom at the goal.
      const double radius = std::sqrt(level / valley.loss(valley.goal + d).item());
      ring.x.push_back(valley.goal.at({0}) + radius * d.at({0}));
      ring.y.push_back(valley.goal.at({1}) + radius * d.at({1}));
    }
    ring.colour = plot::theme::missing;
    chart.series.push_back(ring);
  }
}

void draw_paths() {
  plot::Canvas canvas(1240, 690);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  for (const bool turned : {false, true}) {
    const Valley valley(10, turned);
    plot::LineChart chart{.title = turned ? "The same valley, turned" : "A valley along one axis"};
    chart.x_axis = {.name = "first weight", .log = false, .low = -2.0, .high = 3.0};
    chart.y_axis = {.name = "second weight", .log = false, .low = -2.0, .high = 3.0};
    contours(chart, valley);
    for (std::size_t i = 0; i < methods.size(); ++i) {
      const Path path = methods[i].descend(valley, best_of_rates(methods[i], valley).rate, 40);
      chart.series.push_back({methods[i].name, path.first, path.second});
      chart.series.back().markers = true;
      chart.series.back().colour = plot::series_colour(i);
    }
    chart.annotations = {{valley.start.at({0}), valley.start.at({1}), "start"},
                         {valley.goal.at({0}), valley.goal.at({1}), "goal"}};
    plot::draw(canvas, panels[turned ? 1 : 0], chart);
  }
  plot::write_png(canvas, "out/plots/phase0_adam.png");
}

}  // namespace

int main() try {
  std::printf("Step 07: momentum and Adam (takes about 2 seconds)\n\n");
  compare_all();
  first_step();
  race();
  other_starts();
  draw_paths();
  std::printf("\nwrote out/plots/phase0_adam.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
