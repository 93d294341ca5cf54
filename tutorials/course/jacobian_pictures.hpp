// The picture of step 42: what outputs may depend on, and what they do depend on.
#pragma once

#include <vector>

#include "course/named_mask.hpp"
#include "tapestry/plot/canvas.hpp"
#include "tapestry/tensor.hpp"
#include "tapestry/text/vocabulary.hpp"

namespace tapestry {

// Two masks in a row, and at the right of each the norms of the derivatives that were found under
// it, (words, words) each. What is exactly 0 is crossed. There is room for eight. Throws Error
// unless there are as many norms as masks.
plot::Canvas masks_beside_derivatives(const Words& words, const std::vector<NamedMask>& masks,
                                      const std::vector<Tensor>& norms);

}  // namespace tapestry
