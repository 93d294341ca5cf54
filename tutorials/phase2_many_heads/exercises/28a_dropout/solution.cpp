#include "phase2.hpp"

namespace learn {

Tensor dropout_forward(const Tensor& x, const Tensor& u, double p, bool is_training) {
  if (!is_training) return x;
  const Index n = x.size(0), d = x.size(1);
  Tensor result = Tensor::zeros({n, d});  // (n, d)
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (u.at({i, j}) >= p) result.set({i, j}, x.at({i, j}) / (1 - p));
    }
  }
  return result;
}

}  // namespace learn
