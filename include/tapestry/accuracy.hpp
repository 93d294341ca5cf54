// How often a model is right.
#pragma once

#include "tapestry/tensor.hpp"

namespace tapestry {

// The index of the largest number along the last axis: x (..., n) -> (...). Of equal numbers the
// lowest index; -1 if one of them is NaN, and if n is 0. Throws Error for rank 0.
Indices argmax(const Tensor& x);

// The share of targets that equal argmax(logits): logits (..., classes), targets (...), as in
// cross_entropy. Negative targets do not count; without targets it is 0. Throws Error if
// the shapes do not fit, and for a target that is no class.
double accuracy(const Tensor& logits, const Indices& targets);

}  // namespace tapestry
