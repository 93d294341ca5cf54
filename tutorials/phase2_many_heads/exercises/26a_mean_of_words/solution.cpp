#include "phase2.hpp"

namespace learn {

Tensor mean_of_words(const Tensor& x, const Indices& lengths) {
  const Index sentences = x.size(0), d = x.size(2);
  Tensor result = Tensor::zeros({sentences, d});  // (sentences, d)
  for (Index b = 0; b < sentences; ++b) {
    const Index length = lengths.values[static_cast<std::size_t>(b)];
    for (Index c = 0; c < d; ++c) {
      double sum = 0;
      for (Index i = 0; i < length; ++i) sum += x.at({b, i, c});
      result.set({b, c}, sum / static_cast<double>(length));
    }
  }
  return result;
}

}  // namespace learn
