#include "tapestry/nn/layer_norm.hpp"

#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

LayerNorm::LayerNorm(Index width, double eps_) : eps(eps_) {
  if (width < 1 || !(static_cast<real>(eps) > 0) || !std::isfinite(eps)) {
    throw Error("layer norm: width is " + std::to_string(width) + " and eps is " + exact_text(eps) +
                ": width must be at least 1 and eps a number above 0.");
  }
  weight = Tensor::ones({width});
  bias = Tensor::zeros({width});
}

Tensor LayerNorm::operator()(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }

Members LayerNorm::members() const { return {{"gain", weight}, {"bias", bias}}; }

}  // namespace tapestry
