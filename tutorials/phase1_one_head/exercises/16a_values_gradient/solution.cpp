#include "phase1.hpp"

namespace learn {

MixtureGradients mixture_backward(const Tensor& weights, const Tensor& values,
                                  const Tensor& doutput) {
  const Index n = values.size(0), d = values.size(1);
  Tensor dweights = Tensor::zeros({n, n}), dvalues = Tensor::zeros({n, d});  // (n, n), (n, d)
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index c = 0; c < d; ++c) {
        const double dy = doutput.at({i, c});
        sum += dy * values.at({j, c});
        dvalues.set({j, c}, dvalues.at({j, c}) + weights.at({i, j}) * dy);
      }
      dweights.set({i, j}, sum);
    }
  }
  return {dweights, dvalues};
}

}  // namespace learn
