#include "tapestry/nn/linear.hpp"

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

Linear::Linear(Index in, Index out, Random& random, const LinearOptions& options) {
  if (in < 1 || out < 1) {
    throw Error("linear: sizes are in = " + std::to_string(in) + ", out = " + std::to_string(out) +
                ": both must be at least 1.");
  }
  weight = options.initialiser({in, out}, random);
  if (options.bias) bias = Tensor::zeros({out});
}

Tensor Linear::operator()(const Tensor& x) const {
  if (x.rank() < 1 || x.size(-1) != weight.size(0)) {
    throw Error("linear: x is " + to_string(x.shape()) + ", weight is " +
                to_string(weight.shape()) + ": x's last axis must equal the weight's rows (" +
                std::to_string(weight.size(0)) + ").");
  }
  const Tensor y = x.rank() == 1 ? squeeze(matmul(unsqueeze(x, 0), weight), 0) : matmul(x, weight);
  return bias.defined() ? y + bias : y;
}

Parameters Linear::parameters(const std::string& prefix) const {
  Parameters list = {{prefix + "weight", weight}};
  if (bias.defined()) list.push_back({prefix + "bias", bias});
  return list;
}

}  // namespace tapestry
