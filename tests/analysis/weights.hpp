// Helpers for the tests of patterns.
#pragma once

#include "ops/expect.hpp"
#include "tapestry/mask.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

inline constexpr double nearly_equal = in_double ? 1e-12 : 2e-6;

// Weights as from softmax, 0 where masked; one key has a larger score.
inline Tensor weights_under(const Mask& mask, const Shape& shape, std::uint64_t seed = 1) {
  const Tensor scores = random_tensor(shape, seed) * 2;
  return softmax(where(mask.tensor(shape), scores, -infinity));
}

inline const Mask half_hidden = Mask::from(MaskEncoding::keep, Tensor({5, 5}, {1, 0, 0, 0, 0,  //
                                                                               0, 0, 0, 0, 0,  //
                                                                               1, 1, 0, 0, 1,  //
                                                                               0, 1, 1, 1, 0,  //
                                                                               1, 1, 1, 1, 1}));

}  // namespace tapestry
