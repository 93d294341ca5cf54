#include "phase7.hpp"

namespace learn {

Tensor adapted(const Tensor& x, const AdaptedMap& map) {
  const double scale = map.alpha / double(map.a.size(1));
  const Tensor low = matmul(x, map.a);                   // (n, rank)
  return matmul(x, map.w) + scale * matmul(low, map.b);  // (n, out)
}

}  // namespace learn
