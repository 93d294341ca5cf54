#include "phase0.hpp"

namespace learn {

Tensor softmax_backward(const Tensor& dy, const Tensor& y) {
  const Index n = y.size(0), m = y.size(1);
  Tensor dx = Tensor::zeros({n, m});  // (n, m)
  for (Index i = 0; i < n; ++i) {
    const real *g = dy.data() + i * m, *w = y.data() + i * m;
    double s = 0;
    for (Index k = 0; k < m; ++k) s += double{g[k]} * double{w[k]};
    for (Index j = 0; j < m; ++j) dx.set({i, j}, w[j] * (g[j] - s));
  }
  return dx;
}

}  // namespace learn
