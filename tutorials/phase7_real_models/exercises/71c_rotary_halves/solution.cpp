#include <cmath>

#include "phase7.hpp"

namespace learn {

Tensor rotated_halves(const Tensor& x, Index first) {
  const Index length = x.size(0), d = x.size(1), half = d / 2;
  Tensor result = Tensor::zeros({length, d});  // (length, d)
  for (Index row = 0; row < length; ++row) {
    for (Index i = 0; i < half; ++i) {
      const double t = double(first + row) / std::pow(10000, 2 * double(i) / double(d));
      const double a = double{x.at({row, i})}, b = double{x.at({row, i + half})};
      result.set({row, i}, a * std::cos(t) - b * std::sin(t));
      result.set({row, i + half}, a * std::sin(t) + b * std::cos(t));
    }
  }
  return result;
}

Tensor columns_for_halves(const Tensor& w, Index heads) {
  const Index rows = w.size(0), d = w.size(1) / heads;
  Tensor result = Tensor::zeros(w.shape());  // (d_model, heads d)
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < heads * d; ++column) {
      const Index head = column / d, c = column % d;
      const Index to = head * d + c / 2 + (c % 2) * (d / 2);
      result.set({row, to}, double{w.at({row, column})});
    }
  }
  return result;
}

}  // namespace learn
