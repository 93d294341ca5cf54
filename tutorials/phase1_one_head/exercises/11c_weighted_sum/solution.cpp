#include "phase1.hpp"

namespace learn {

Tensor weighted_sum(const Tensor& weights, const Tensor& values) {
  const Index n = values.size(0), d = values.size(1);
  Tensor output = Tensor::zeros({d});  // (d)
  for (Index c = 0; c < d; ++c) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += double{weights.at({j})} * double{values.at({j, c})};
    output.set({c}, sum);
  }
  return output;
}

}  // namespace learn
