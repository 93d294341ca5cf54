// Step 06. How does a gradient make a weight better?
//
// New here: gradient descent, w <- w - rate * gradient, on the neuron of step 02; learning rates
// that are too small and too large; batches, which estimate the gradient from a few examples.
// Writes out/plots/phase0_downhill.png; takes about 2 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/timing.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

struct Neuron {
  double w = 0.5, b = -0.3;  // the start of step 02
};

struct Examples {
  Tensor x, target;  // (n) each
};

struct Slopes {
  double loss, dw, db;
};

// The mean loss over these examples, and its gradient.
Slopes slopes_of(const Neuron& neuron, const Examples& examples) {
  const Tensor w(neuron.w), b(neuron.b);  // () each
  Tape tape({w, b});
  const Tensor loss = mse(tanh(w * examples.x + b), examples.target);  // ()
  const Gradients gradients = tape.backward(loss);
  return {loss.item(), gradients[w].item(), gradients[b].item()};
}

// Gradient descent on fixed examples: the losses before each step, and after the last one.
std::vector<double> descend(Neuron neuron, const Examples& examples, double rate, int steps) {
  std::vector<double> losses;
  for (int step = 0; step <= steps; ++step) {
    const Slopes slopes = slopes_of(neuron, examples);
    losses.push_back(slopes.loss);
    neuron.w = neuron.w - rate * slopes.dw;
    neuron.b = neuron.b - rate * slopes.db;
  }
  return losses;
}

plot::Series curve(const std::string& name, const std::vector<double>& y, double step = 1) {
  plot::Series series{name, {}, y};
  for (std::size_t i = 0; i < y.size(); ++i) series.x.push_back(step * static_cast<double>(i));
  return series;
}

void first_steps(const Examples& one) {
  std::printf("1. The example of step 02, learning rate 0.1\nstep       w   dloss/dw     loss\n");
  Neuron neuron;
  for (int step = 0; step <= 4; ++step) {
    const Slopes slopes = slopes_of(neuron, one);
    std::printf("%4d %7.4f %10.4f %8.4f\n", step, neuron.w, slopes.dw, slopes.loss);
    neuron = {neuron.w - 0.1 * slopes.dw, neuron.b - 0.1 * slopes.db};
  }
  std::printf("\n");
}

plot::LineChart by_rate(const Examples& one) {
  std::printf("2. Other learning rates\n    rate  after 10 steps  after 50 steps\n");
  plot::LineChart chart{.title = "One example, six learning rates"};
  for (const double rate : {0.001, 0.01, 0.1, 0.2, 0.21, 0.22, 0.3, 1.0, 10.0}) {
    const std::vector<double> course = descend({}, one, rate, 50);
    std::printf("%8.3f %15.6f %15.6f\n", rate, course[10], course[50]);
    if (rate == 0.2 || rate == 0.21 || rate == 0.22) continue;
    chart.series.push_back(curve(formatted("%g", rate), course));
  }
  // At the bottom the loss is a parabola; its curvature along the gradient, from the chain rule:
  const double slope = 1 - 0.2 * 0.2, curvature = 2 * slope * slope * (2.0 * 2.0 + 1);
  std::printf("curvature at the bottom %.3f, and 2 / curvature = %.3f\n\n", curvature,
              2 / curvature);
  chart.x_axis.name = "step";
  chart.y_axis = {.name = "loss", .log = true, .low = 1e-8, .high = 10};
  return chart;
}

constexpr Index count = 256;

// Examples of another neuron, w = 1.5 and b = 0.5, with noise.
Examples noisy_examples(Random& random) {
  const Tensor x = random.normal({count});                           // (256)
  return {x, tanh(1.5 * x + 0.5) + random.normal({count}, 0, 0.3)};  // (256) each
}

Examples draw(const Examples& all, Index batch, Random& random) {
  Indices chosen({batch}, std::vector<std::int32_t>(batch));  // (batch)
  for (auto& i : chosen.values) i = static_cast<std::int32_t>(random.randint(count));
  return {gather(all.x, 0, chosen), gather(all.target, 0, chosen)};  // (batch) each
}

// How much the gradient of a batch differs from that of all examples: a standard deviation.
double spread(const Examples& all, Index batch) {
  Random random(3);
  const double exact = slopes_of({}, all).dw;
  double squares = 0;
  for (int i = 0; i < 400; ++i) {
    const double error = slopes_of({}, draw(all, batch, random)).dw - exact;
    squares += error * error / 400;
  }
  return std::sqrt(squares);
}

// Reads 1024 examples in all, in batches; the loss over all examples after each 64 read.
std::vector<double> read(const Examples& all, Index batch, double rate, std::uint64_t seed) {
  Random random(seed);
  Neuron neuron;
  std::vector<double> losses;
  for (Index seen = 0; seen <= 1024; seen += batch) {
    if (seen % std::max(batch, Index{64}) == 0) losses.push_back(slopes_of(neuron, all).loss);
    const Slopes slopes = slopes_of(neuron, draw(all, batch, random));
    neuron.w = neuron.w - rate * slopes.dw;
    neuron.b = neuron.b - rate * slopes.db;
  }
  return losses;
}

std::vector<double> mean_of_seeds(const Examples& all, Index batch, double rate) {
  constexpr int seeds = 10;
  std::vector<double> sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const std::vector<double> losses = read(all, batch, rate, seed);
    sum.resize(losses.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += losses[i] / seeds;
  }
  return sum;
}

const std::vector<Index> batches = {1, 4, 16, 64, 256};
const std::vector<double> rates = {0.01, 0.03, 0.1, 0.3, 1.0, 3.0};

double loss_of_best(const Examples& all) { return descend({}, all, 0.5, 2000).back(); }

// Other draws of the examples, and of the order in which they are read: the best of the rates.
void other_draws() {
  std::vector<Examples> draws;  // (256) each
  std::vector<double> best;
  for (const std::uint64_t seed : {2, 3, 4}) {
    Random random(seed);
    draws.push_back(noisy_examples(random));
    best.push_back(loss_of_best(draws.back()));
  }
  std::printf("The best of the six learning rates, for three other draws of 256 examples\n");
  std::printf("batch    rate   loss      rate   loss      rate   loss\n");
  for (const Index batch : batches) {
    std::printf("%5d", static_cast<int>(batch));
    for (std::size_t i = 0; i < draws.size(); ++i) {
      double least = 1, at = 0;
      for (const double rate : rates) {
        const double loss = mean_of_seeds(draws[i], batch, rate).back();
        if (loss < least) at = rate;
        least = std::min(least, loss);
      }
      std::printf("    %4.2f %6.4f", at, least - best[i]);
    }
    std::printf("\n");
  }
}

plot::LineChart by_batch() {
  Random random(1);
  const Examples all = noisy_examples(random);  // (256) each
  const double best = loss_of_best(all);
  std::printf("3. 256 examples with noise; the best neuron's loss is %.4f\n", best);
  std::printf("       error of   loss above the best after 1024 examples, mean of 10 seeds\n");
  std::printf("batch  gradient   rate 0.01     0.03     0.10     0.30     1.00     3.00\n");
  plot::LineChart chart{.title = "Many examples, rate 0.3, four sizes of batch"};
  for (const Index batch : batches) {
    std::printf("%5d %9.3f     ", static_cast<int>(batch), spread(all, batch));
    for (const double rate : rates) {
      std::vector<double> losses = mean_of_seeds(all, batch, rate);
      for (double& loss : losses) loss -= best;
      std::printf(" %8.4f", losses.back());
      if (rate == 0.3 && batch != 4) {
        const double step = static_cast<double>(std::max(batch, Index{64}));
        chart.series.push_back(curve("batch " + std::to_string(batch), losses, step));
      }
    }
    std::printf("\n");
  }
  other_draws();
  const Examples some = draw(all, 64, random), single = draw(all, 1, random);
  const double together = best_seconds([&] { slopes_of({}, some); }, 20, 0.02);
  const double alone = 64 * best_seconds([&] { slopes_of({}, single); }, 20, 0.02);
  std::printf("64 gradients of one example take 20 times as long as one of 64, or more: %s\n",
              alone > 20 * together ? "yes" : "no");
  chart.x_axis.name = "examples read";
  chart.y_axis = {.name = "loss above the best neuron's", .log = true, .low = {}, .high = {}};
  return chart;
}

}  // namespace

int main() try {
  std::printf("Step 06: downhill (takes about 2 seconds)\n\n");
  const Examples one{Tensor({1}, {2}), Tensor({1}, {0.2})};  // (1) each: the example of step 02
  first_steps(one);
  plot::Canvas canvas(1200, 440);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], by_rate(one));
  plot::draw(canvas, panels[1], by_batch());
  plot::write_png(canvas, "out/plots/phase0_downhill.png");
  std::printf("\nwrote out/plots/phase0_downhill.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
