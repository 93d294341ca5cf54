// How much of each word may reach each position through several layers of attention.
#pragma once

#include <vector>

#include "tapestry/capture.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// The weights that a Transformer recorded, first layer first, each (batch, heads, queries, keys):
// "blocks.0.attention.weights", "blocks.1.attention.weights", ... Throws Error if there are none.
[[nodiscard]] std::vector<Tensor> captured_weights(const Capture& seen);

// What one layer passes on when its residual connection is counted: the mean over heads of the
// weights, half of it, and half the identity, (A + I) / 2, with rows that do not sum to 1 divided
// by their sum (Abnar & Zuidema 2020, section 3). weights (..., heads, length, length) ->
// (..., length, length). Throws Error for another form, or no heads.
[[nodiscard]] Tensor with_residual(const Tensor& weights);

// Attention rollout (Abnar & Zuidema 2020): the product A_n ... A_2 A_1 of with_residual of all
// layers, first layer first in the list. Row i is the share of each word in position i after the
// last layer; rows sum to 1. It assumes values and residuals of equal norm and ignores the
// feed-forward layers: jacobian.hpp measures the true dependence.
// Each (..., heads, length, length) -> (..., length, length). Throws Error for an empty list, and
// if the layers do not fit together.
[[nodiscard]] Tensor attention_rollout(const std::vector<Tensor>& layers);

// The max-flow variant (same paper): links have the capacities of with_residual; entry (i, j) is
// the maximum flow from position i after the last layer, through all layers, to word j. A path
// counts as much as its smallest link, and paths that share no link add up. In [0, 1]; rows may sum
// to more than 1. Exact (Edmonds & Karp 1972, in double).
// Shapes and errors as above, and Error for a weight that is negative or not finite. Takes
// length^2 searches: for tens of words, not thousands.
[[nodiscard]] Tensor attention_flow(const std::vector<Tensor>& layers);

}  // namespace tapestry
