#include "phase3.hpp"

namespace learn {

Tensor previous_word_scores(const Tensor& weights) {
  const Index heads = weights.size(0), n = weights.size(1);
  Tensor scores = Tensor::zeros({heads});  // (heads)
  for (Index h = 0; h < heads; ++h) {
    double sum = 0;
    for (Index i = 1; i < n; ++i) {
      const double even = 1.0 / double(i + 1);
      sum += double{weights.at({h, i, i - 1})} - even;
    }
    scores.set({h}, sum / double(n - 1));
  }
  return scores;
}

}  // namespace learn
