#include <algorithm>
#include <cmath>

#include "phase0.hpp"

namespace learn {

double cross_entropy_forward(const Tensor& logits, const Indices& targets) {
  const Index n = logits.size(0), m = logits.size(1);
  double loss = 0;
  for (Index i = 0; i < n; ++i) {
    const real* x = logits.data() + i * m;
    const double largest = *std::max_element(x, x + m);
    double sum = 0;
    for (Index j = 0; j < m; ++j) sum += std::exp(x[j] - largest);
    const auto target = targets.values[static_cast<std::size_t>(i)];
    loss += largest + std::log(sum) - x[target];
  }
  return loss / static_cast<double>(n);
}

}  // namespace learn
