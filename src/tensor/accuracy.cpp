#include "tapestry/accuracy.hpp"

#include <cmath>

#include "kernels/axis.hpp"
#include "tapestry/error.hpp"
#include "tensor/raw.hpp"

namespace tapestry {
Indices predicted_classes(const Tensor& logits) {
  if (logits.ndim() < 1) {
    throw Error("predicted_classes: logits are " + to_string(logits.shape()) +
                ": they have no axis of classes.");
  }
  const Shape shape = logits.shape().removed(-1);
  std::vector<std::int32_t> places(static_cast<std::size_t>(shape.numel()), -1);
  const Index classes = logits.size(-1);
  if (classes == 0) return {shape, std::move(places)};
  const Tensor dense = logits.contiguous();
  kernels::arg_extreme(raw(dense), shape.numel(), classes, 1, true, places.data());
  const real* row = raw(dense);
  for (std::int32_t& place : places) {
    if (std::isnan(row[place])) place = -1;
    row += classes;
  }
  return {shape, std::move(places)};
}

double accuracy(const Tensor& logits, const Indices& targets) {
  targets.check("accuracy");
  if (logits.ndim() < 1 || logits.shape().removed(-1) != targets.shape) {
    throw Error("accuracy: logits are " + to_string(logits.shape()) + ", targets are " +
                to_string(targets.shape) +
                ": logits must have the targets' shape and a last axis of classes.");
  }
  const Indices said = predicted_classes(logits);
  Index asked = 0, right = 0;
  for (std::size_t i = 0; i < targets.values.size(); ++i) {
    const std::int32_t target = targets.values[i];
    if (target >= logits.size(-1)) {
      throw Error("accuracy: target " + std::to_string(target) + " at place " + std::to_string(i) +
                  " is not one of the " + std::to_string(logits.size(-1)) + " classes.");
    }
    asked += target >= 0;
    right += target >= 0 && said.values[i] == target;
  }
  return asked == 0 ? 0 : static_cast<double>(right) / static_cast<double>(asked);
}

}  // namespace tapestry
