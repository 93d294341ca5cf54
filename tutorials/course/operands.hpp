// Queries, keys and values drawn at random, for steps that compute attention in several ways.
#pragma once

#include <cstdint>

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

}  // namespace tapestry
