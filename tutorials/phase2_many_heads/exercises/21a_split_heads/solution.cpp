#include "phase2.hpp"

namespace learn {

Tensor split_into_heads(const Tensor& x, Index heads) {
  const Index n = x.size(0), d = x.size(1) / heads;
  Tensor result = Tensor::zeros({heads, n, d});  // (heads, n, d)
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < d; ++c) result.set({h, i, c}, x.at({i, h * d + c}));
    }
  }
  return result;
}

}  // namespace learn
