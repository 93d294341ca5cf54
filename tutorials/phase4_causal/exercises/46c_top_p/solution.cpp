#include <algorithm>

#include "phase4.hpp"

namespace learn {

Tensor top_p_only(const Tensor& probabilities, double p) {
  const Index words = probabilities.size(0);
  std::vector<Index> order;
  for (Index j = 0; j < words; ++j) order.push_back(j);
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return probabilities.at({a}) > probabilities.at({b}); });
  Tensor result = Tensor::zeros({words});  // (words)
  double sum = 0;
  for (const Index word : order) {
    if (sum >= p) break;
    sum += double{probabilities.at({word})};
    result.set({word}, double{probabilities.at({word})});
  }
  for (Index j = 0; j < words; ++j) result.set({j}, double{result.at({j})} / sum);
  return result;
}

}  // namespace learn
