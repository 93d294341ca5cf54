#include <algorithm>
#include <cmath>

#include "phase0.hpp"

namespace learn {

Tensor softmax_forward(const Tensor& scores) {
  const Index n = scores.size(0), m = scores.size(1);
  Tensor weights = Tensor::zeros({n, m});  // (n, m)
  for (Index i = 0; i < n; ++i) {
    const real* x = scores.data() + i * m;
    real* y = weights.data() + i * m;
    const real largest = *std::max_element(x, x + m);
    real sum = 0;
    for (Index j = 0; j < m; ++j) {
      y[j] = std::exp(x[j] - largest);
      sum += y[j];
    }
    for (Index j = 0; j < m; ++j) y[j] /= sum;
  }
  return weights;
}

}  // namespace learn
