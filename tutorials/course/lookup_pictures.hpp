// The picture of step 17: how the loss of a lookup falls.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"

namespace tapestry {

// A way to form scores, and the loss at each step with it.
struct LookupCurve {
  std::string way;
  std::vector<double> losses;
};

// A chart for each d_k, side by side, with the curves of raw, scaled, and raw scores with a small
// start, in this order; those that are not divided are dashed. Throws Error for more than three
// curves, and without any.
plot::Canvas lookup_picture(const std::map<int, std::vector<LookupCurve>>& by_d_k);

}  // namespace tapestry
