#include <cmath>

#include "phase0.hpp"

namespace learn {

bool gradient_passes(const NumberOf& f, const GradientAt& gradient) {
  const double h = 0.01;
  const Tensor x = Random(1).normal({3, 3});  // (3, 3)
  const Tensor said = gradient(x);            // (3, 3)
  if (said.shape() != x.shape()) return false;
  Tensor moved = x.clone();  // (3, 3)
  for (Index i = 0; i < x.numel(); ++i) {
    moved.data()[i] = x.data()[i] + real(h);
    const double above = f(moved);
    moved.data()[i] = x.data()[i] - real(h);
    const double slope = (above - f(moved)) / (2 * h);
    moved.data()[i] = x.data()[i];
    const double error = std::abs(slope - said.data()[i]);
    if (!(error <= 1e-2 * (1 + std::abs(slope)))) return false;  // NaN, too, is no agreement
  }
  return true;
}

}  // namespace learn
