#include <cmath>

#include "phase6.hpp"

namespace learn {

Tensor sinusoids(Index length, Index width) {
  Tensor result = Tensor::zeros({length, width});  // (length, width)
  for (Index m = 0; m < length; ++m) {
    for (Index column = 0; column < width; ++column) {
      const Index pair = column / 2;
      const double angle = double(m) / std::pow(10000, double(2 * pair) / double(width));
      result.set({m, column}, column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return result;
}

}  // namespace learn
