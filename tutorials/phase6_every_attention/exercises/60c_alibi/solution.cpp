#include <cmath>
#include <cstdlib>

#include "phase6.hpp"

namespace learn {

Tensor distance_penalty(Index heads, Index length) {
  Tensor result = Tensor::zeros({heads, length, length});  // (heads, length, length)
  for (Index h = 0; h < heads; ++h) {
    const double slope = std::pow(2, -8 * double(h + 1) / double(heads));
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j < length; ++j) {
        result.set({h, i, j}, -slope * double(std::abs(i - j)));
      }
    }
  }
  return result;
}

}  // namespace learn
