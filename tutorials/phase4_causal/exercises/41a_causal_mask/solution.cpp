#include "phase4.hpp"

namespace learn {

Tensor causal_mask(Index queries, Index keys, Index offset) {
  Tensor mask = Tensor::zeros({queries, keys});  // (queries, keys)
  for (Index i = 0; i < queries; ++i) {
    const Index position = offset + i;
    for (Index j = 0; j < keys; ++j) {
      if (j <= position) mask.set({i, j}, 1);
    }
  }
  return mask;
}

}  // namespace learn
