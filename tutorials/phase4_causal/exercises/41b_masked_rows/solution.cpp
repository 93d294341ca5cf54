#include <algorithm>
#include <cmath>
#include <limits>

#include "phase4.hpp"

namespace learn {

Tensor masked_softmax(const Tensor& scores, const Tensor& allowed) {
  const Index n = scores.size(0), m = scores.size(1);
  Tensor weights = Tensor::zeros({n, m});  // (n, m)
  for (Index i = 0; i < n; ++i) {
    double largest = -std::numeric_limits<double>::infinity();
    for (Index j = 0; j < m; ++j) {
      if (allowed.at({i, j}) != 0) largest = std::max(largest, double{scores.at({i, j})});
    }
    double sum = 0;
    for (Index j = 0; j < m; ++j) {
      if (allowed.at({i, j}) == 0) continue;  // a hidden key: its weight stays 0
      const double power = std::exp(double{scores.at({i, j})} - largest);
      weights.set({i, j}, power);
      sum += power;
    }
    if (sum == 0) continue;  // nothing to see
    for (Index j = 0; j < m; ++j) weights.set({i, j}, double{weights.at({i, j})} / sum);
  }
  return weights;
}

}  // namespace learn
