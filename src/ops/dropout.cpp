// Dropout: forgetting at random while training.
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

Tensor dropout(const Tensor& x, double p, Random& random) {
  if (!(p >= 0 && p < 1)) {
    throw Error("dropout: p is " + std::to_string(p) + ", but must be in [0, 1).");
  }
  if (p == 0) return x;
  const Tensor keep = Tensor::uninitialised(x.shape());
  const auto limit = static_cast<std::uint64_t>(p * 0x1p32);  // bits below it drop
  const auto scale = static_cast<real>(1 / (1 - p));
  for (Index i = 0; i < keep.count(); ++i) keep.data()[i] = random.bits() < limit ? 0 : scale;
  return x * keep;
}

}  // namespace tapestry
