// Step 02. How does a program know its own derivative?
//
// New here: the tape. The chain rule is first worked out by hand for one neuron, then read off the
// tape, then checked by finite differences.
// Writes out/plots/phase0_tape.png; takes less than a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/gradcheck.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr double w0 = 0.5, x0 = 2, b0 = -0.3, target = 0.2;

struct Slopes {
  double dw, db;
};

// loss = (y - target)^2, y = tanh(s), s = w x + b. One derivative for each step, multiplied from
// the last step to the first.
Slopes by_hand() {
  const double s = w0 * x0 + b0;
  const double y = std::tanh(s);
  const double loss = (y - target) * (y - target);
  const double dloss_dy = 2 * (y - target);
  const double dy_ds = 1 - y * y;
  const double ds_dw = x0, ds_db = 1;
  std::printf("1. By hand\n");
  std::printf("given      w = %.4f   x = %.4f   b = %.4f   target = %.4f\n", w0, x0, b0, target);
  std::printf("forward    s = %.4f   y = tanh(s) = %.4f   loss = %.4f\n", s, y, loss);
  std::printf("backward   dloss/dy = %.4f   dy/ds = %.4f   ds/dw = %.4f\n", dloss_dy, dy_ds, ds_dw);
  const Slopes slopes{dloss_dy * dy_ds * ds_dw, dloss_dy * dy_ds * ds_db};
  std::printf("product    dloss/dw = %.4f   dloss/db = %.4f\n\n", slopes.dw, slopes.db);
  return slopes;
}

Tensor neuron_loss(const Tensor& w, const Tensor& b) {
  const Tensor difference = tanh(w * x0 + b) - target;  // ()
  return difference * difference;                       // ()
}

// The records of the tape as boxes, with the formula of each, and its slope on each arrow.
void draw(const Tape& tape, double y) {
  plot::Diagram diagram = tape_diagram(tape, "The tape of one neuron, x = 2, target = 0.2");
  diagram.subtitle =
      "on an arrow: the slope of this step. A gradient is the gradient to its right times the "
      "slope on the arrow; several arrows are added up";
  const std::vector<std::string> formulas = {
      "w", "b", "w x", "s = w x + b", "y = tanh(s)", "e = y − target", "loss = e · e"};
  for (std::size_t i = 0; i < formulas.size(); ++i) diagram.boxes[i].title = formulas[i];
  const std::string e = formatted("%.3f", y - target);
  const std::vector<std::string> slopes = {
      formatted("%g", x0), "1", "1", formatted("%.3f", 1 - y * y), "1", e, e};
  for (std::size_t i = 0; i < slopes.size(); ++i) diagram.arrows[i].label = slopes[i];
  plot::write_png(plot::render(diagram), "out/plots/phase0_tape.png");
}

void by_tape(const Slopes& hand) {
  const Tensor w(w0), b(b0);                                      // () each: single numbers
  Tape tape(Parameters{{"w", w}, {"b", b}}, Tape::Keep::values);  // values: for the picture
  const Tensor product = w * x0;                                  // ()
  const Tensor s = product + b;                                   // ()
  const Tensor y = tanh(s);                                       // ()
  const Tensor difference = y - target;                           // ()
  const Tensor loss = difference * difference;                    // ()
  tape.label(product, "w x");
  tape.label(s, "s");
  tape.label(y, "y");
  tape.label(difference, "y - target");
  tape.label(loss, "loss");
  std::printf("2. By the tape: every operation left a record\n%s", tape.table().c_str());
  const Gradients gradients = tape.backward(loss);  // of w and of b, () each
  std::printf("dloss/dw = %.4f   dloss/db = %.4f\n", double{gradients[w].item()},
              double{gradients[b].item()});
  const double worst = std::max(std::abs(double{gradients[w].item()} - hand.dw),
                                std::abs(double{gradients[b].item()} - hand.db));
  std::printf("by hand and by tape agree to six digits: %s\n\n", worst < 1e-6 ? "yes" : "NO");
  draw(tape, double{y.item()});
}

// A tensor that is used several times collects a gradient from each use, and they add.
void used_three_times() {
  const Tensor a(3);  // ()
  Tape tape({a});
  const Tensor y = a + a;  // ()
  const Tensor z = y * a;  // (): 2 a^2, so dz/da = 4 a
  std::printf("3. Used three times: y = a + a, z = y * a at a = 3\n");
  std::printf("dz/da = %.4f, and 4 a = %.4f\n\n", double{tape.backward(z)[a].item()}, 4 * 3.0);
}

// An operation written by hand: its output, computed without recording, and its backward pass,
// which takes the output's gradient dy and adds to that of input 0. Wrong on purpose: the
// derivative of x^2 is 2x, not x. x (2), dy (2) -> (2)
Tensor lying_square(const Tensor& x) {
  return Tape::record(
      "lying_square", {x}, (x * x).detach(),
      [x = Tape::save(x)](const Tensor& dy, GradientSink& to) { to.accumulate(0, dy * x); });
}

void check_by_differences() {
  std::printf("4. A check: differences of the function\n");
  const std::vector<Tensor> inputs = {Tensor(w0), Tensor(b0)};  // () each
  const GradcheckResult honest =
      gradcheck([](const std::vector<Tensor>& in) { return neuron_loss(in[0], in[1]); }, inputs);
  std::printf("the neuron: %s\n", honest ? "passed" : honest.message.c_str());
  const GradcheckResult liar = gradcheck(
      [](const std::vector<Tensor>& in) { return lying_square(in[0]); }, {Tensor({2}, {1, 3})});
  std::printf("a square whose backward pass is wrong on purpose:\n%s\n",
              liar ? "passed?!" : liar.message.c_str());
}

}  // namespace

int main() try {
  std::printf("Step 02: the tape (takes less than a second)\n\n");
  by_tape(by_hand());
  used_three_times();
  check_by_differences();
  std::printf("\nwrote out/plots/phase0_tape.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
