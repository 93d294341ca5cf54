#include <cmath>

#include "phase4.hpp"

namespace learn {

Tensor top_k_only(const Tensor& logits, Index k) {
  const Index words = logits.size(0);
  const double largest = double{max(logits).item()};
  Tensor probabilities = Tensor::zeros({words});  // (words)
  double sum = 0;
  for (Index j = 0; j < words; ++j) {
    Index larger = 0;  // how many logits are larger than this one
    for (Index i = 0; i < words; ++i) larger += logits.at({i}) > logits.at({j}) ? 1 : 0;
    if (larger >= k) continue;
    const double power = std::exp(double{logits.at({j})} - largest);
    probabilities.set({j}, power);
    sum += power;
  }
  for (Index j = 0; j < words; ++j) {
    probabilities.set({j}, double{probabilities.at({j})} / sum);
  }
  return probabilities;
}

}  // namespace learn
