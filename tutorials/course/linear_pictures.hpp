// The picture of step 63: weights of softmax attention beside those of linear attention.
#pragma once

#include <vector>

#include "tapestry/plot/canvas.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct LinearAndSoftmax {
  Tensor softmax, linear;  // weights of the same queries and keys, (words, words) each
};

// The mean weight that words put on themselves, where queries and keys are multiplied by `gain`.
struct OnItself {
  double gain, softmax, linear;
};

// Both maps of weights and their difference, blue for softmax and orange for linear attention;
// below at the right a line for each, by gain. `weights`: those of the factor 1. Throws Error
// without gains.
plot::Canvas linear_picture(const LinearAndSoftmax& weights, const std::vector<OnItself>& by_gain);

}  // namespace tapestry
