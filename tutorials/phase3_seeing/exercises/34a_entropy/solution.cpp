#include <cmath>

#include "phase3.hpp"

namespace learn {

Tensor entropy_of_rows(const Tensor& weights) {
  const Index n = weights.size(0), m = weights.size(1);
  Tensor entropy = Tensor::zeros({n});  // (n)
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < m; ++j) {
      const double weight = double{weights.at({i, j})};
      if (weight > 0) sum -= weight * std::log(weight);
    }
    entropy.set({i}, sum);
  }
  return entropy;
}

}  // namespace learn
