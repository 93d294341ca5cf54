#include "course/translation_pictures.hpp"

#include <string>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry {

plot::HeatmapGrid maps_of_translation(const Tensor& weights, const Translation& one) {
  const Index n = std::ssize(one.source), heads = weights.size(1);
  if (weights.shape() != Shape{1, heads, n + 1, n}) {
    throw Error("maps_of_translation: the weights are not those of this sentence.");
  }
  plot::HeatmapGrid grid;
  grid.columns = 2;
  grid.title = "Cross-attention of four heads while they translate (seed 1)";
  for (Index head = 0; head < heads; ++head) {
    const Tensor w = slice(slice(weights, 1, head, head + 1), 2, 0, n);  // (1, 1, n, n)
    grid.maps.push_back(attention_heatmap(reshape(w, {n, n}), one.target, one.source,
                                          "head " + std::to_string(head)));
    grid.maps.back().row_axis = "says", grid.maps.back().column_axis = "looks at";
  }
  return grid;
}

}  // namespace tapestry
