// Step 6a. How can a deep network be trained in little memory?
//
// New here: checkpoints, for any function: keep only its inputs in the forward pass, and compute
// what is between again in the backward pass. Memory, gradients and time are measured, by how many
// layers one checkpoint holds, and memory is compared with the formula.
// Writes out/plots/phase6_checkpoints.png; takes about a second. Times are yours, so the lesson
// quotes none of them.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "course/peak_memory.hpp"
#include "course/timing.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/nn/init.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/numbers.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr std::size_t layers = 16;
constexpr Index words = 256, width = 32;

// Attention of one head with a residual connection.
Tensor layer(const Tensor& x, const Tensor& w) {
  const std::vector<Tensor> parts =  // q, k, v: (words, width) each
      split(matmul(layer_norm(x, Tensor::ones({width}), Tensor::zeros({width})), w), 3, -1);
  return x + attention(parts[0], parts[1], parts[2]).output;  // (words, width)
}

// The layers one after the other, with a checkpoint around every `segment` of them (0: none).
Tensor network(Tensor x, const std::vector<Tensor>& weights, std::size_t segment) {
  const std::size_t together = segment == 0 ? weights.size() : segment;
  for (std::size_t i = 0; i < weights.size(); i += together) {
    const auto some = [&weights, i, together](const std::vector<Tensor>& in) {
      Tensor y = in[0];  // (words, width)
      for (std::size_t l = i; l < std::min(i + together, weights.size()); ++l) {
        y = layer(y, weights[l]);  // (words, width)
      }
      return y;
    };
    x = segment == 0 ? some({x}) : checkpoint(some, {x});  // (words, width)
  }
  return x;
}

// What checkpoint() does, for a chain of layers: forward without a tape, keeping only the inputs;
// backward each layer again, on a tape of its own. Returns the gradients of the weights.
std::vector<Tensor> written_out(Tensor x, const std::vector<Tensor>& weights) {
  std::vector<Tensor> inputs;
  for (const Tensor& w : weights) {
    inputs.push_back(x);
    x = layer(x, w);  // (words, width): nothing is recorded
  }
  std::vector<Tensor> gradients(weights.size());
  Tensor d = x;  // (words, width): the gradient that arrives, here y itself, as below
  for (std::size_t l = weights.size(); l-- > 0;) {
    Tape tape({inputs[l], weights[l]});
    const Gradients found = tape.backward(layer(inputs[l], weights[l]), d);
    d = found.at(0), gradients[l] = found.at(1);
  }
  return gradients;
}

Gradients with_gradients(const Tensor& x, const std::vector<Tensor>& weights, std::size_t segment) {
  Tape tape(weights);
  const Tensor y = network(x, weights, segment);  // (words, width)
  return tape.backward(y, y);
}

double largest_error(const Gradients& got, const Gradients& expected) {
  double error = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    error = std::max(error, largest_difference(got.at(l), expected.at(l)));
  }
  return error;
}

struct Measured {
  std::vector<std::string> labels, times;
  std::vector<double> mebibytes, by_formula;
};

// A line for each number of layers in a checkpoint.
Measured measure(const Tensor& x, const std::vector<Tensor>& weights) {
  const Gradients expected = with_gradients(x, weights, 0);
  const double input = static_cast<double>(words * width * 4) / 1024 / 1024;
  Measured result;
  for (const std::size_t segment : {0, 1, 2, 4, 8, 16}) {
    result.labels.push_back(segment == 0 ? "none" : std::to_string(segment));
    result.mebibytes.push_back(peak_mebibytes([&] { with_gradients(x, weights, segment); }));
    const double records = result.mebibytes[0] / layers;  // of one layer
    const std::size_t held = segment == 0 ? layers : segment;
    const double kept = segment == 0 ? 0 : static_cast<double>(layers / segment) * input;
    result.by_formula.push_back(kept + static_cast<double>(held) * records);
    std::printf("%-9s %17.2f MiB %7.2f MiB %11.0f %%   %g\n",
                (result.labels.back() + (segment == 0 ? "" : " layers")).c_str(),
                result.mebibytes.back(), result.by_formula.back(),
                100 * result.mebibytes.back() / result.mebibytes[0],
                largest_error(with_gradients(x, weights, segment), expected));
    const double time = processor_seconds([&] { with_gradients(x, weights, segment); });
    result.times.push_back(plot::number_text(1e3 * time, 1));
  }
  return result;
}

void draw(const Measured& measured) {
  plot::BarChart chart;
  chart.title = "Sixteen layers, forward and backward: peak memory";
  chart.label_axis = "layers in one checkpoint";
  chart.y_axis.name = "MiB";
  chart.labels = measured.labels;
  chart.series = {{"measured", measured.mebibytes},
                  {"n / s inputs, s layers", measured.by_formula}};
  plot::write_png(plot::render(chart), "out/plots/phase6_checkpoints.png");
  std::printf("\nwrote out/plots/phase6_checkpoints.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 6a: checkpoints (takes about a second)\n\n");
  use_threads(1);  // so that processor time is time
  Random random(9);
  const Tensor x = random.normal({words, width});  // (words, width)
  std::vector<Tensor> weights;
  while (weights.size() < layers) {
    weights.push_back(init::lecun_normal({width, 3 * width}, random));  // (width, 3 * width)
  }
  std::printf("%zu layers of attention, %d words, width %d\n", layers, static_cast<int>(words),
              static_cast<int>(width));
  std::printf("one checkpoint is    peak memory  formula  share of none   gradients differ by\n");
  const Measured measured = measure(x, weights);
  const std::vector<Tensor> by_hand = written_out(x, weights);
  const Gradients expected = with_gradients(x, weights, 0);
  double error = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    error = std::max(error, largest_difference(by_hand[l], expected.at(l)));
  }
  std::printf("written out by hand: gradients differ by %g\n", error);
  std::printf("Milliseconds here, in this order:");
  for (const std::string& time : measured.times) std::printf(" %s", time.c_str());
  std::printf("\n");
  draw(measured);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
