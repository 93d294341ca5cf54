#include <cmath>
#include <numbers>

#include "phase0.hpp"

namespace learn {
namespace {

const double c = std::sqrt(2 / std::numbers::pi);

}  // namespace

Tensor gelu_forward(const Tensor& x) {
  Tensor y = Tensor::zeros(x.shape());  // (n, m)
  for (Index i = 0; i < x.numel(); ++i) {
    const double at = x.data()[i], u = c * (at + 0.044715 * at * at * at);
    y.data()[i] = static_cast<real>(at / 2 * (1 + std::tanh(u)));
  }
  return y;
}

Tensor gelu_backward(const Tensor& dy, const Tensor& x) {
  Tensor dx = Tensor::zeros(x.shape());  // (n, m)
  for (Index i = 0; i < x.numel(); ++i) {
    const double at = x.data()[i], t = std::tanh(c * (at + 0.044715 * at * at * at));
    const double inner = c * (1 + 3 * 0.044715 * at * at);
    const double slope = (1 + t) / 2 + at / 2 * (1 - t * t) * inner;
    dx.data()[i] = static_cast<real>(dy.data()[i] * slope);
  }
  return dx;
}

}  // namespace learn
