#include <algorithm>
#include <cmath>

#include "phase4.hpp"

namespace learn {

Tensor at_temperature(const Tensor& logits, double temperature) {
  const Index words = logits.size(0);
  double largest = double{logits.at({0})};
  for (Index j = 1; j < words; ++j) largest = std::max(largest, double{logits.at({j})});
  Tensor probabilities = Tensor::zeros({words});  // (words)
  double sum = 0;
  for (Index j = 0; j < words; ++j) {
    const double power = std::exp((double{logits.at({j})} - largest) / temperature);
    probabilities.set({j}, power);
    sum += power;
  }
  for (Index j = 0; j < words; ++j) {
    probabilities.set({j}, double{probabilities.at({j})} / sum);
  }
  return probabilities;
}

}  // namespace learn
