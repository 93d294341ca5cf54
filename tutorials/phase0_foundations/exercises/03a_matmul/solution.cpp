#include "phase0.hpp"

namespace learn {

Tensor matmul_forward(const Tensor& a, const Tensor& b) {
  const Index m = a.size(0), inner = a.size(1), n = b.size(1);
  Tensor c = Tensor::zeros({m, n});  // (m, n)
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index k = 0; k < inner; ++k) sum += double{a.at({i, k})} * double{b.at({k, j})};
      c.set({i, j}, sum);
    }
  }
  return c;
}

}  // namespace learn
