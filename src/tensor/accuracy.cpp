#include "tapestry/accuracy.hpp"

#include <cmath>

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

std::int32_t place_of_greatest(std::span<const real> row) {
  std::int32_t best = row.empty() ? -1 : 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (std::isnan(row[i])) return -1;
    if (row[i] > row[static_cast<std::size_t>(best)]) best = static_cast<std::int32_t>(i);
  }
  return best;
}

}  // namespace

Indices argmax(const Tensor& x) {
  if (x.ndim() < 1) throw Error("argmax: x is " + to_string(x.shape()) + ": it has no last axis.");
  const Tensor dense = x.contiguous();
  const auto classes = static_cast<std::size_t>(x.size(-1));
  const Shape shape = x.shape().removed(-1);
  std::vector<std::int32_t> places;
  for (Index row = 0; row < shape.count(); ++row) {
    places.push_back(
        place_of_greatest({dense.data() + static_cast<std::size_t>(row) * classes, classes}));
  }
  return {shape, std::move(places)};
}

double accuracy(const Tensor& logits, const Indices& targets) {
  targets.check("accuracy");
  if (logits.ndim() < 1 || logits.shape().removed(-1) != targets.shape) {
    throw Error("accuracy: logits are " + to_string(logits.shape()) + ", targets are " +
                to_string(targets.shape) +
                ": logits must be the targets' shape with one axis of classes behind it.");
  }
  const Indices said = argmax(logits);
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
