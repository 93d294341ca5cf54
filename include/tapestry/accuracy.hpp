// How often a model is right.
#pragma once

#include "tapestry/tensor.hpp"

namespace tapestry {

// What a model says: argmax of logits (..., classes) -> (...), but -1, which no target is, where
// one of them is NaN and where there are no classes. Throws Error for logits without an axis.
[[nodiscard]] Indices predicted_classes(const Tensor& logits);

// The share of targets that equal predicted_classes(logits): logits (..., classes), targets (...),
// as in cross_entropy. Negative targets do not count; without targets it is 0. Throws Error if the
// shapes do not fit, and for a target that is no class.
[[nodiscard]] double accuracy(const Tensor& logits, const Indices& targets);

}  // namespace tapestry
