#include "phase0.hpp"

namespace learn {

Tensor cross_entropy_backward(const Tensor& logits, const Indices& targets) {
  const Index n = logits.size(0), m = logits.size(1);
  Tensor dx = softmax(logits);  // (n, m)
  for (Index i = 0; i < n; ++i) {
    real* row = dx.data() + i * m;
    row[targets.values[static_cast<std::size_t>(i)]] -= 1;
    for (Index j = 0; j < m; ++j) row[j] /= static_cast<real>(n);
  }
  return dx;
}

}  // namespace learn
