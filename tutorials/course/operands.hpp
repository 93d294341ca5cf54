// Queries, keys and values drawn at random, for steps that compute attention in several ways.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct Operands {
  Tensor q, k, v;  // (length, width) each
};

inline Operands draw_operands(Index length, Index width, std::uint64_t seed) {
  Random random(seed);
  return {random.normal({length, width}), random.normal({length, width}),
          random.normal({length, width})};
}

// The rows begin to end - 1 of x (length, width), or to its last one.
inline Tensor rows_of(const Tensor& x, Index begin, Index end) {
  return slice(x, 0, begin, std::min(end, x.size(0)));  // (end - begin, width)
}

}  // namespace tapestry
