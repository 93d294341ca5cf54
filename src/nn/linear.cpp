#include "tapestry/nn/linear.hpp"

#include "nn/initial_weight.hpp"
#include "ops/activation.hpp"
#include "tapestry/error.hpp"

namespace tapestry {

Linear::Linear(Index in, Index out, Random& random, const LinearOptions& options) {
  if (in < 1 || out < 1) {
    throw Error("linear: sizes are in = " + std::to_string(in) + ", out = " + std::to_string(out) +
                ": both must be at least 1.");
  }
  weight = initial_weight("linear", options.initializer, {in, out}, random);
  if (options.bias) bias = Tensor::zeros({out});
}

Tensor Linear::operator()(const Tensor& x, Activation activation) const {
  if (!adapter) return linear(x, weight, bias, activation);               // (..., out)
  return activated(linear(x, weight, bias) + (*adapter)(x), activation);  // (..., out)
}

Tensor Linear::merged() const { return adapter ? weight + adapter->change() : weight; }

Members Linear::members() const {
  return {{"weight", weight}, {"bias", bias}, {"adapter", adapter}};
}

}  // namespace tapestry
