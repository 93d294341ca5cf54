#include <algorithm>
#include <cmath>

#include "phase1.hpp"

namespace learn {

Tensor weights_of_scores(const Tensor& scores) {
  const Index n = scores.size(0);
  double largest = scores.at({0});
  for (Index j = 1; j < n; ++j) largest = std::max(largest, double{scores.at({j})});
  double sum = 0;
  for (Index j = 0; j < n; ++j) sum += std::exp(scores.at({j}) - largest);
  Tensor weights = Tensor::zeros({n});  // (n)
  for (Index j = 0; j < n; ++j) weights.set({j}, std::exp(scores.at({j}) - largest) / sum);
  return weights;
}

}  // namespace learn
