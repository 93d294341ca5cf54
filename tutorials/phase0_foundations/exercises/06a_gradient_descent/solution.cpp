#include "phase0.hpp"

namespace learn {

Tensor gradient_descent(const Tensor& start, const GradientAt& gradient, double rate, Index steps) {
  Tensor w = start;  // (n)
  for (Index step = 0; step < steps; ++step) w = w - rate * gradient(w);
  return w;
}

}  // namespace learn
