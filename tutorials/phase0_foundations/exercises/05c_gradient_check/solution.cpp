#include "phase0.hpp"

namespace learn {

Tensor numerical_gradient(const NumberOf& f, const Tensor& x, double h) {
  Tensor gradient = Tensor::zeros(x.shape());  // (n, m)
  Tensor moved = x.clone();                    // (n, m)
  for (Index i = 0; i < x.size(0); ++i) {
    for (Index j = 0; j < x.size(1); ++j) {
      moved.set({i, j}, x.at({i, j}) + h);
      const double above = f(moved);
      moved.set({i, j}, x.at({i, j}) - h);
      const double below = f(moved);
      moved.set({i, j}, x.at({i, j}));
      gradient.set({i, j}, (above - below) / (2 * h));
    }
  }
  return gradient;
}

}  // namespace learn
