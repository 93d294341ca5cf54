#include <cmath>

#include "phase2.hpp"

namespace learn {

Tensor layer_norm_forward(const Tensor& x, const Tensor& gain, const Tensor& shift, double eps) {
  const Index n = x.size(0), d = x.size(1);
  const auto count = static_cast<double>(d);
  Tensor result = Tensor::zeros({n, d});  // (n, d)
  for (Index i = 0; i < n; ++i) {
    double mean = 0, variance = 0;
    for (Index c = 0; c < d; ++c) mean += x.at({i, c}) / count;
    for (Index c = 0; c < d; ++c) variance += std::pow(x.at({i, c}) - mean, 2) / count;
    const double deviation = std::sqrt(variance + eps);
    for (Index c = 0; c < d; ++c) {
      const double standard = (x.at({i, c}) - mean) / deviation;
      result.set({i, c}, standard * gain.at({c}) + shift.at({c}));
    }
  }
  return result;
}

}  // namespace learn
