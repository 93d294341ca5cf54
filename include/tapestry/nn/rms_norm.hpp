// Rows divided by their root mean square, then scaled by learned parameters.
#pragma once

#include "tapestry/nn/module.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Root mean square normalisation (Zhang & Sennrich 2019), as in Llama: unlike LayerNorm, it neither
// subtracts the mean nor adds a bias.
struct RmsNorm : Module {
  Tensor weight;  // (width), initially 1
  double eps;

  // Throws Error for a width below 1, or an eps that is not above 0 as a `real`.
  explicit RmsNorm(Index width, double eps = 1e-5);

  // x (..., width) -> the same shape. Throws Error for another last axis.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Members members() const override;
};

}  // namespace tapestry
