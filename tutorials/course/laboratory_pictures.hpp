// The picture of step 6b: what variants of attention cost, by length.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/shape.hpp"

namespace tapestry {

struct LaboratoryCurves {
  std::string name;  // of the variant, as in laboratory.hpp
  // By length: milliseconds of a forward pass, MiB of a forward and a backward pass; NaN: none.
  std::map<Index, double> forward_ms, both_mib;
};

// Four panels with logarithmic axes: time above, bytes below, of eight variants. Dashed lines show
// the slopes 2 and 1, from the length `steep_from` to the largest one. Throws Error if a variant
// that is drawn is not among `all`.
plot::Canvas laboratory_picture(const std::vector<LaboratoryCurves>& all, Index steep_from);

}  // namespace tapestry
