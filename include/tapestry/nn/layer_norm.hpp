// Rows brought to mean 0 and variance 1, then scaled and shifted by what the model learns.
#pragma once

#include <string>

#include "tapestry/tensor.hpp"

namespace tapestry {

// Layer normalisation (Ba, Kiros, Hinton 2016).
struct LayerNorm {
  Tensor weight;  // (width), begins at 1
  Tensor bias;    // (width), begins at 0
  double eps;

  // Throws Error for a width below 1, or an eps that `real` does not hold as above 0.
  explicit LayerNorm(Index width, double eps = 1e-5);

  // x (..., width) -> the same shape. Throws Error for another last axis.
  Tensor operator()(const Tensor& x) const;

  // "<prefix>gain", "<prefix>bias".
  Parameters parameters(const std::string& prefix = "") const;
};

}  // namespace tapestry
