// The picture of step 55: masks, what is learned through them, and how long they take.
#pragma once

#include <string>
#include <vector>

#include "course/named_mask.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry {

// Above, side by side, the masks for 16 places. Below at the left a row of cells for each mask and
// a column for each distance in places: shares (masks, distances), row by row, say how often the
// letter that stands so far back is said right, from 0 to 1, by one of so many seeds. At the right
// a line for each of `times`: the time of attention, as a share of another, by the number of places
// (400 to 5000). Throws Error without masks, distances or times, or unless there are
// masks * distances shares.
plot::Canvas sparse_masks(const std::vector<NamedMask>& masks, const std::vector<Index>& distances,
                          const std::vector<double>& shares, Index seeds,
                          const std::vector<plot::Series>& times);

}  // namespace tapestry
