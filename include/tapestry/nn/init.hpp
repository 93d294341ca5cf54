// Initialisation of weights. A weight matrix is (in, out), so that y = x W as in the formulas.
#pragma once

#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Initial values for a weight of that shape; may also be a function of your own.
using Initializer = Tensor (*)(const Shape& shape, Random& random);

namespace init {

// Normal with standard deviation 0.02, whatever the size (GPT; Radford et al. 2018).
[[nodiscard]] Tensor normal(const Shape& shape, Random& random);

// Uniform in +-sqrt(6 / (in + out)): keeps the variance in the forward and the backward pass
// (Glorot & Bengio 2010). shape is (..., in, out), else Error.
[[nodiscard]] Tensor xavier_uniform(const Shape& shape, Random& random);

// Normal with standard deviation 1 / sqrt(in): outputs vary as much as inputs do (LeCun et al.
// 1998). shape is (..., in, out), else Error.
[[nodiscard]] Tensor lecun_normal(const Shape& shape, Random& random);

}  // namespace init
}  // namespace tapestry
