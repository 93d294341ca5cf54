// Rows normalised to mean 0 and variance 1, then scaled and shifted by learned parameters.
#pragma once

#include <string>

#include "tapestry/nn/module.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Layer normalisation (Ba, Kiros, Hinton 2016).
struct LayerNorm : Module {
  Tensor weight;  // (width), initially 1
  Tensor bias;    // (width), initially 0
  double eps;

  // Throws Error for a width below 1, or an eps that is not above 0 as a `real`.
  explicit LayerNorm(Index width, double eps = 1e-5);

  // x (..., width) -> the same shape. Throws Error for another last axis.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  // In files the weight is called gain.
  Members members() const override;
};

}  // namespace tapestry
