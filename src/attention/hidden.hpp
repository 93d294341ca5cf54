// The two products of attention, without any influence of masked elements: 0 times a masked NaN or
// infinity would be NaN.
#pragma once

#include "tapestry/mask.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// q k^T, (..., queries, keys). Where a gradient is 0 since the pair is masked, a NaN or an infinity
// of one side does not enter the other's gradient.
Tensor product_of_pairs(const Tensor& q, const Tensor& k, const Mask& mask);

// weights v, (..., queries, d_v), where a weight is 0 wherever `mask` hides the key. A NaN or an
// infinity of a value reaches those queries that may attend to its key, and no other.
Tensor mix_of_values(const Tensor& weights, const Tensor& v, const Mask& mask);

}  // namespace tapestry
