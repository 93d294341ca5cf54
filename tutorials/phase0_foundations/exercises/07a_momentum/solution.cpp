#include "phase0.hpp"

namespace learn {

void momentum_step(Tensor& weight, const Tensor& gradient, Tensor& velocity, double rate,
                   double momentum) {
  velocity = momentum * velocity + gradient;  // (n)
  weight = weight - rate * velocity;          // (n)
}

}  // namespace learn
