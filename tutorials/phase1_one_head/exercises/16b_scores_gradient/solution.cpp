#include <cmath>

#include "phase1.hpp"

namespace learn {

ScoreGradients scores_backward(const Tensor& q, const Tensor& k, const Tensor& weights,
                               const Tensor& dweights) {
  const Index n = q.size(0);
  Tensor dscores = Tensor::zeros({n, n});  // (n, n)
  for (Index i = 0; i < n; ++i) {
    double mean = 0;  // of the row's dweights, weighted
    for (Index l = 0; l < n; ++l) mean += double{weights.at({i, l})} * dweights.at({i, l});
    for (Index j = 0; j < n; ++j) {
      dscores.set({i, j}, weights.at({i, j}) * (dweights.at({i, j}) - mean));
    }
  }
  const double root = std::sqrt(static_cast<double>(q.size(1)));
  return {matmul(dscores, k) / root, matmul(transpose(dscores), q) / root};  // (n, d), (n, d)
}

}  // namespace learn
