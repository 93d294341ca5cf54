#include "tapestry/nn/layer_norm.hpp"

#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

LayerNorm::LayerNorm(Index width, double epsilon_) : epsilon(epsilon_) {
  if (width < 1 || !(static_cast<real>(epsilon) > 0) || !std::isfinite(epsilon)) {
    throw Error("layer norm: width is " + std::to_string(width) + " and epsilon is " +
                std::to_string(epsilon) +
                ": width must be at least 1 and epsilon a number above 0.");
  }
  gain = Tensor::ones({width});
  bias = Tensor::zeros({width});
}

Tensor LayerNorm::operator()(const Tensor& x) const { return layer_norm(x, gain, bias, epsilon); }

Parameters LayerNorm::parameters(const std::string& prefix) const {
  return {{prefix + "gain", gain}, {prefix + "bias", bias}};
}

}  // namespace tapestry
