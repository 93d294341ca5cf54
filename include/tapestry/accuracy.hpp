// How often a model is right.
#pragma once

#include "tapestry/tensor.hpp"

namespace tapestry {

// The place of the greatest number along the last axis: x (..., n) -> (...). Of equal ones the
// lowest place; -1 for numbers with a NaN among them, and where n is 0. Throws Error for rank 0.
Indices argmax(const Tensor& x);

// The share of targets that argmax(logits) says: logits (..., classes), targets (...), as
// cross_entropy has them. Negative targets do not count; the share of none is 0. Throws Error if
// the shapes do not fit, and for a target that is no class.
double accuracy(const Tensor& logits, const Indices& targets);

}  // namespace tapestry
