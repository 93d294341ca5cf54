// The film of step 64: causal attention meets its scores tile by tile.
#pragma once

#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// A tile has just been met, or skipped.
struct TileMoment {
  Index query = 0, key = 0;  // where it begins
  bool skipped = false;      // the mask hides all of it
  Tensor terms = {};         // (size, size): exp(score - maximum), unless skipped
  // For each tile that its queries have met so far, (size, 1): their largest scores, their sums of
  // terms, and how far their outputs are from the final ones.
  std::vector<Tensor> tops = {}, totals = {}, distances = {};
};

// A frame for each moment, three for one that is not skipped, and three more at the end. At the
// left all tiles of size x size pairs, that of the moment in blue; at the right a chart for each of
// tops, totals and distances, with a line for each query. There is room for 32 words, and the
// charts reach as far as the numbers of step 64.
std::vector<plot::Canvas> film_of_tiles(const std::vector<TileMoment>& moments, Index length,
                                        Index size);

}  // namespace tapestry
