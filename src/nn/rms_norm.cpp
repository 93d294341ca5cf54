#include "tapestry/nn/rms_norm.hpp"

#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

RmsNorm::RmsNorm(Index width, double eps_) : eps(eps_) {
  if (width < 1 || !(static_cast<real>(eps) > 0) || !std::isfinite(eps)) {
    throw Error("RMS norm: width is " + std::to_string(width) + " and eps is " + exact_text(eps) +
                ": width must be at least 1 and eps a number above 0.");
  }
  weight = Tensor::ones({width});
}

Tensor RmsNorm::operator()(const Tensor& x) const { return rms_norm(x, weight, eps); }

Members RmsNorm::members() const { return {{"gain", weight}}; }

}  // namespace tapestry
