// How much each word of the text may reach each position through several layers of attention.
#pragma once

#include <vector>

#include "tapestry/capture.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The weights that a Transformer filed, first layer first, each (batch, heads, queries, keys): what
// stands under "blocks.0.attention.weights", "blocks.1.attention.weights", ... Throws Error if
// there are none.
std::vector<Tensor> filed_weights(const Capture& seen);

// What one layer passes on when its residual connection is counted: the mean over heads of the
// weights, half of it, and half the identity, (A + I) / 2, with rows that do not sum to 1 divided
// by their sum (Abnar & Zuidema 2020, section 3). weights (..., heads, length, length) ->
// (..., length, length). Throws Error for another form, or no heads.
Tensor with_residual(const Tensor& weights);

// Attention rollout (Abnar & Zuidema 2020): the product A_n ... A_2 A_1 of with_residual of all
// layers, first layer first in the list. Row i says what share of position i, behind the last
// layer, comes from each word; rows sum to 1. It takes values and residuals for equally long and
// knows nothing of the feed-forward layers: see jacobian.hpp for what really passes.
// Each (..., heads, length, length) -> (..., length, length). Throws Error for an empty list, and
// if the layers do not fit together.
Tensor attention_rollout(const std::vector<Tensor>& layers);

// The max-flow variant (same paper): links are pipes, as wide as with_residual says; entry (i, j)
// is the greatest flow from position i behind the last layer, through all layers, to word j. A
// path counts as much as its narrowest link, and several paths add up as long as they do not share
// one. In [0, 1]; rows may sum to more than 1. Exact (Edmonds & Karp 1972, in double).
// Shapes and errors as above, and Error for a weight that is negative or not finite. Takes
// length^2 searches: for tens of words, not thousands.
Tensor attention_flow(const std::vector<Tensor>& layers);

}  // namespace tapestry
