// The picture of step 69: where the heads of the cross-attention look.
#pragma once

#include "course/translation.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// A map for each head, two in a row: what is said and where it looks. weights
// (1, heads, words + 1, words), without the last row, which says <eos>. Throws Error for weights of
// another sentence.
plot::HeatmapGrid maps_of_translation(const Tensor& weights, const Translation& one);

}  // namespace tapestry
