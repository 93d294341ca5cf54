#include "phase3.hpp"

namespace learn {

Tensor lost_without_links(const Tensor& weights, const Tensor& values, const Tensor& output,
                          Index right) {
  const auto log_probability = [&](const Tensor& row) {      // row (n)
    const Tensor mixed = matmul(unsqueeze(row, 0), values);  // (1, d)
    const Tensor all = log_softmax(matmul(mixed, output));   // (1, vocabulary)
    return double{all.at({0, right})};
  };
  const double whole = log_probability(weights);
  Tensor lost = Tensor::zeros(weights.shape());  // (n)
  for (Index j = 0; j < weights.size(0); ++j) {
    Tensor without = weights.clone();  // (n)
    without.set({j}, 0);
    lost.set({j}, whole - log_probability(without));
  }
  return lost;
}

}  // namespace learn
