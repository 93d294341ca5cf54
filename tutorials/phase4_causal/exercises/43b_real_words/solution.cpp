#include <cmath>

#include "phase4.hpp"

namespace learn {

double loss_of_words(const Tensor& logits, const Indices& targets) {
  const Index rows = logits.size(0), n = logits.size(1), vocabulary = logits.size(2);
  double total = 0;
  Index count = 0;
  for (Index r = 0; r < rows; ++r) {
    for (Index i = 0; i < n; ++i) {
      const Index target = targets.values[static_cast<std::size_t>(r * n + i)];
      if (target < 0) continue;
      double sum = 0;
      for (Index w = 0; w < vocabulary; ++w) sum += std::exp(double{logits.at({r, i, w})});
      total += std::log(sum) - double{logits.at({r, i, target})};
      ++count;
    }
  }
  return count == 0 ? 0 : total / static_cast<double>(count);
}

}  // namespace learn
