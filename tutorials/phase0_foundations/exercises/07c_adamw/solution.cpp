#include <cmath>

#include "phase0.hpp"

namespace learn {

void adamw_step(Tensor& weight, const Tensor& gradient, AdamMemory& memory, double rate,
                double decay) {
  const double t = static_cast<double>(++memory.steps);
  memory.mean = 0.9 * memory.mean + 0.1 * gradient;                     // (n)
  memory.square = 0.999 * memory.square + 0.001 * gradient * gradient;  // (n)
  const Tensor fair_mean = memory.mean / (1 - std::pow(0.9, t));        // (n)
  const Tensor fair_square = memory.square / (1 - std::pow(0.999, t));  // (n)
  const Tensor step = fair_mean / (sqrt(fair_square) + 1e-8);           // (n)
  weight = weight - rate * decay * weight - rate * step;                // (n)
}

}  // namespace learn
