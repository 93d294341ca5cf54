#include <algorithm>

#include "phase6.hpp"

namespace learn {

Tensor window_mask(Index length, Index width, bool causal) {
  Tensor result = Tensor::zeros({length, length});  // (length, length)
  for (Index i = 0; i < length; ++i) {
    const Index begin = std::max(Index{0}, i - width);
    const Index last = causal ? i : std::min(length - 1, i + width);
    for (Index j = begin; j <= last; ++j) result.set({i, j}, 1);
  }
  return result;
}

}  // namespace learn
