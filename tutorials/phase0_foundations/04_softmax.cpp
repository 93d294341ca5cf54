// Step 04. How do scores become shares, and what can go wrong?
//
// New here: softmax in four steps, why the largest score is subtracted first, how it sharpens, and
// why a forbidden place needs minus infinity and not 0.
// Writes out/plots/phase0_softmax.png; takes less than a second.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <string>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void overflow() {
  const Tensor x({3}, {1000, 1001, 1002});  // (3)
  std::cout << "1. The formula, taken literally\n"
            << "x                      " << to_string(x, 0) << "\n"
            << "exp(x)                 " << to_string(exp(x), 0) << "\n"
            << "exp(x) / sum(exp(x))   " << to_string(exp(x) / sum(exp(x)), 3) << "\n";
  const double most = std::log(std::numeric_limits<float>::max());
  std::printf("e^x is beyond a float for x above %.2f\n\n", most);
}

void four_steps() {
  const Tensor x({3}, {1000, 1001, 1002});  // (3)
  const Tensor largest = max(x);            // ()
  const Tensor shifted = x - largest;       // (3)
  const Tensor powers = exp(shifted);       // (3)
  const Tensor total = sum(powers);         // ()
  const Tensor weights = powers / total;    // (3)
  std::cout << "2. The same in four steps that cannot overflow\n"
            << "[1] largest            " << to_string(largest, 0) << "\n"
            << "[2] x - largest        " << to_string(shifted, 0) << "\n"
            << "[3] exp of that        " << to_string(powers, 4) << "\n"
            << "[4] divided by the sum " << to_string(weights, 4) << "\n"
            << "difference to the library's softmax(x): "
            << (largest_difference(weights, softmax(x)) < 1e-6 ? "less than 1e-6" : "LARGE")
            << "\n\n";
}

// Rows that must sum to 1 only do so if softmax runs along the right axis. x (2, 3) -> sums (2)
void wrong_axis() {
  const Tensor x({2, 3}, {1, 2, 3, 1, 2, 9});  // (2, 3)
  std::cout << "3. The axis matters\n"
            << "row sums, softmax over the last axis  " << to_string(sum(softmax(x, -1), -1), 4)
            << "\n"
            << "row sums, softmax over the first axis " << to_string(sum(softmax(x, 0), -1), 4)
            << "\n\n";
}

void sharpening(const Tensor& scores) {
  std::cout << "4. Sharpening: the same scores, multiplied\n"
            << "scores     " << to_string(scores, 2) << "\n";
  for (const double factor : {0.0, 0.5, 1.0, 2.0, 4.0}) {
    std::printf("times %.1f  ", factor);
    std::cout << to_string(softmax(scores * factor), 3) << "\n";  // (4)
  }
  std::cout << "\n";
}

void forbidding() {
  std::cout << "5. Forbidding the middle place of three, with scores 2, 1 and 3\n"
            << "as it was          " << to_string(softmax(Tensor({3}, {2, 1, 3})), 3) << "\n"
            << "score set to 0     " << to_string(softmax(Tensor({3}, {2, 0, 3})), 3) << "\n"
            << "score set to -inf  " << to_string(softmax(Tensor({3}, {2, -infinity, 3})), 3)
            << "\n"
            << "and if every place is forbidden:\n"
            << "all -1e9           " << to_string(softmax(Tensor::full({3}, -1e9)), 3) << "\n";
  const Tensor nothing = Tensor::full({3}, -infinity);  // (3)
  const Tensor powers = exp(nothing - max(nothing));    // (3)
  std::cout << "all -inf, literal  " << to_string(powers / sum(powers), 3) << "\n"
            << "all -inf, library  " << to_string(softmax(nothing), 3) << "\n";
  Tape tape({nothing});
  const Tensor given({3}, {0.5, 1, 2});  // (3): the gradient that arrives
  std::cout << "... its gradient   "
            << to_string(tape.backward(softmax(nothing), given)[nothing], 3) << "\n";
}

plot::BarChart bars(const std::string& title, const std::vector<std::string>& labels) {
  plot::BarChart chart;
  chart.title = title;
  chart.labels = labels;
  chart.y_axis.low = 0;
  chart.y_axis.high = 1;
  return chart;
}

void draw(const Tensor& scores) {
  plot::Canvas canvas(1380, 420);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 3);
  plot::BarChart before = bars("Scores", {"a", "b", "c", "d"});
  before.y_axis = {.name = "score", .log = false, .low = {}, .high = {}};
  before.series = {{"", doubles(scores)}};
  plot::draw(canvas, panels[0], before);

  plot::BarChart after = bars("Softmax sharpens as differences grow", {"a", "b", "c", "d"});
  for (const double factor : {0.5, 1.0, 4.0}) {
    const std::string name = formatted("scores × %g", factor);
    after.series.push_back({name, doubles(softmax(scores * factor))});  // (4)
  }
  after.y_axis.name = "weight";
  plot::draw(canvas, panels[1], after);

  plot::BarChart masked =
      bars("Forbidding b: 0 is not enough", {"a (2)", "b (forbidden)", "c (3)"});
  masked.series = {{"b set to 0", doubles(softmax(Tensor({3}, {2, 0, 3})))},
                   {"b set to −∞", doubles(softmax(Tensor({3}, {2, -infinity, 3})))}};
  masked.y_axis.name = "weight";
  plot::draw(canvas, panels[2], masked);
  plot::write_png(canvas, "out/plots/phase0_softmax.png");
}

}  // namespace

int main() try {
  std::cout << "Step 04: softmax (takes less than a second)\n\n";
  const Tensor scores({4}, {0.5, 1.0, 2.0, -0.5});  // (4)
  overflow();
  four_steps();
  wrong_axis();
  sharpening(scores);
  forbidding();
  draw(scores);
  std::cout << "\nwrote out/plots/phase0_softmax.png\n";
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
