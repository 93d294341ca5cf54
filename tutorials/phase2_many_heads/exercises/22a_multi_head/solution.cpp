#include <cmath>

#include "phase2.hpp"

namespace learn {

Tensor multi_head_forward(const Tensor& x, const HeadMatrices& w, Index heads) {
  const Tensor q = split_heads(matmul(x, w.query), heads);  // (heads, n, d)
  const Tensor k = split_heads(matmul(x, w.key), heads);    // (heads, n, d)
  const Tensor v = split_heads(matmul(x, w.value), heads);  // (heads, n, d)
  const double root = std::sqrt(static_cast<double>(q.size(2)));
  const Tensor weights = softmax(matmul(q, transpose(k)) / root);  // (heads, n, n)
  return matmul(concat_heads(matmul(weights, v)), w.output);       // (n, d_model)
}

}  // namespace learn
