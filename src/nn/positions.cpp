#include "tapestry/nn/positions.hpp"

#include <cmath>

#include "tapestry/error.hpp"

namespace tapestry {

Tensor sinusoidal_positions(Index length, Index width, Index first) {
  if (length < 0 || width < 1 || first < 0) {
    throw Error("sinusoidal positions: length is " + std::to_string(length) + ", width " +
                std::to_string(width) + ", first " + std::to_string(first) +
                ": width must be at least 1, the others at least 0.");
  }
  const Tensor result = Tensor::uninitialised({length, width});
  for (Index row = 0; row < length; ++row) {
    const double position = static_cast<double>(first) + static_cast<double>(row);
    for (Index i = 0; i < width; ++i) {
      const double exponent = static_cast<double>(i - i % 2) / static_cast<double>(width);
      const double angle = position / std::pow(1e4, exponent);
      result.data()[row * width + i] =
          static_cast<real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return result;
}

}  // namespace tapestry
