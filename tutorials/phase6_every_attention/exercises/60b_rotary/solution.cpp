#include <cmath>

#include "phase6.hpp"

namespace learn {

Tensor rotated(const Tensor& x, Index first) {
  const Index length = x.size(0), d = x.size(1);
  Tensor result = Tensor::zeros({length, d});  // (length, d)
  for (Index row = 0; row < length; ++row) {
    const double m = double(first + row);
    for (Index column = 0; column < d; column += 2) {
      const double t = m / std::pow(10000, double(column) / double(d));
      const double a = double{x.at({row, column})}, b = double{x.at({row, column + 1})};
      result.set({row, column}, a * std::cos(t) - b * std::sin(t));
      result.set({row, column + 1}, a * std::sin(t) + b * std::cos(t));
    }
  }
  return result;
}

Tensor rotary_scores(const Tensor& q, const Tensor& k, Index first) {
  return matmul(rotated(q, first), transpose(rotated(k, 0)));  // (queries, keys)
}

}  // namespace learn
