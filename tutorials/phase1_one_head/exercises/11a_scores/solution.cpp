#include <cmath>

#include "phase1.hpp"

namespace learn {

Tensor scores(const Tensor& query, const Tensor& keys) {
  const Index n = keys.size(0), d = keys.size(1);
  Tensor result = Tensor::zeros({n});  // (n)
  for (Index j = 0; j < n; ++j) {
    double sum = 0;
    for (Index c = 0; c < d; ++c) sum += double{query.at({c})} * double{keys.at({j, c})};
    result.set({j}, sum / std::sqrt(double(d)));
  }
  return result;
}

}  // namespace learn
