#include "phase2.hpp"

namespace learn {

Tensor join_heads(const Tensor& x) {
  const Index heads = x.size(0), n = x.size(1), d = x.size(2);
  Tensor result = Tensor::zeros({n, heads * d});  // (n, heads d)
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < d; ++c) result.set({i, h * d + c}, x.at({h, i, c}));
    }
  }
  return result;
}

}  // namespace learn
