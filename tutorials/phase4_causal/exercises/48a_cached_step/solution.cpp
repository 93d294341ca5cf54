#include <cmath>

#include "phase4.hpp"

namespace learn {

Tensor cached_attention(const CachedHead& head, const Tensor& x, KeptWords& kept) {
  const Index t = std::ssize(kept.keys), d = x.size(0);
  const Tensor h = unsqueeze(x, 0) + slice(head.positions, 0, t, t + 1);   // (1, d)
  const Tensor q = matmul(h, head.w_q);                                    // (1, d)
  kept.keys.push_back(squeeze(matmul(h, head.w_k), 0));                    // (d)
  kept.values.push_back(squeeze(matmul(h, head.w_v), 0));                  // (d)
  const Tensor k = stack(kept.keys, 0), v = stack(kept.values, 0);         // (t + 1, d)
  const Tensor weights = softmax(matmul(q, transpose(k)) / std::sqrt(d));  // (1, t + 1)
  return squeeze(matmul(weights, v), 0);                                   // (d)
}

}  // namespace learn
