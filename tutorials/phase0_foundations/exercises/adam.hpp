// Adam with each mistake as a switch, written twice: number by number in double, and by the
// library's operations. For the checks of 07b and 07c.
#pragma once

#include <cmath>

#include "phase0.hpp"
#include "steps.hpp"

namespace tapestry {

struct AdamSwitches {
  bool corrects_mean = true, corrects_square = true;
  bool keeps_corrected = false;  // the corrected means are what is remembered
  Index first = 1;               // t in the first step
  bool counts = true;            // t grows from step to step
  bool takes_root = true;
  double beta1 = 0.9, beta2 = 0.999;
  // of AdamW, in one step: what is added to the gradient, and what is taken from the weight before
  // and after, as parts of the weight
  double (*into_gradient)(double rate, double decay) = nothing;
  double (*before)(double rate, double decay) = nothing;
  double (*after)(double rate, double decay) = nothing;

  static double nothing(double, double) { return 0; }
  double power(double beta, Index t) const { return std::pow(beta, counts ? double(t) : 1); }
};

using AdamStep = std::function<decltype(learn::adamw_step)>;

inline AdamMemory empty_memory(const Tensor& start) { return {start * 0.0, start * 0.0, 0}; }

inline AdamStep adam_by_numbers(const AdamSwitches& s) {
  return
      [=](Tensor& weight, const Tensor& gradient, AdamMemory& memory, double rate, double decay) {
        const Index t = memory.steps++ + s.first;
        for (Index i = 0; i < weight.numel(); ++i) {
          const double w = weight.at({i}), g = gradient.at({i}) + s.into_gradient(rate, decay) * w;
          double mean = s.beta1 * memory.mean.at({i}) + (1 - s.beta1) * g;
          double square = s.beta2 * memory.square.at({i}) + (1 - s.beta2) * g * g;
          if (!s.keeps_corrected) memory.mean.set({i}, mean), memory.square.set({i}, square);
          if (s.corrects_mean) mean /= 1 - s.power(s.beta1, t);
          if (s.corrects_square) square /= 1 - s.power(s.beta2, t);
          if (s.keeps_corrected) memory.mean.set({i}, mean), memory.square.set({i}, square);
          const double size = (s.takes_root ? std::sqrt(square) : square) + 1e-8;
          const double moved = w - s.before(rate, decay) * w - rate * mean / size;
          weight.set({i}, moved - s.after(rate, decay) * moved);
        }
      };
}

inline AdamStep adam_by_library(const AdamSwitches& s) {
  return
      [=](Tensor& weight, const Tensor& gradient, AdamMemory& memory, double rate, double decay) {
        const Tensor g = gradient + weight * s.into_gradient(rate, decay);  // (n)
        AdamMemory fair;
        memory.mean = memory.mean + (1 - s.beta1) * (g - memory.mean);            // (n)
        memory.square = memory.square + (1 - s.beta2) * (g * g - memory.square);  // (n)
        const double first = s.corrects_mean ? 1 - s.power(s.beta1, memory.steps + s.first) : 1;
        const double second = s.corrects_square ? 1 - s.power(s.beta2, memory.steps + s.first) : 1;
        fair.mean = memory.mean / first;       // (n)
        fair.square = memory.square / second;  // (n)
        fair.steps = memory.steps + 1;
        const Tensor size = s.takes_root ? sqrt(fair.square) : fair.square;  // (n)
        weight = weight * (1 - s.before(rate, decay)) - rate * (fair.mean / (size + 1e-8));
        weight = weight * (1 - s.after(rate, decay));  // (n)
        if (s.keeps_corrected) memory = fair;
        memory.steps = fair.steps;
      };
}

inline NamedTensors adam_inputs(Random& random, Index size, bool with_decay) {
  const Index n = size + 1, steps = size + 1;
  NamedTensors inputs = {{"weight", random.normal({n}, 2)},
                         {"gradients", random.normal({steps, n}) + 0.5},
                         {"rate", Tensor(0.1 + 0.1 * double(random.randint(3)))}};
  if (with_decay) inputs.push_back({"decay", Tensor(0.3 + 0.2 * double(random.randint(2)))});
  return inputs;
}

}  // namespace tapestry
