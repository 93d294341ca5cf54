#include "phase2.hpp"

namespace learn {

bool split_test_passes(const SplitFunction& f) {
  const Index n = 3, d = 4;
  for (const Index heads : {2, 3}) {
    const Tensor x = reshape(Tensor::arange(n * heads * d), {n, heads * d});  // (n, heads d)
    const Tensor result = f(x, heads);                                        // (heads, n, d)
    if (result.shape() != Shape{heads, n, d}) return false;
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < d; ++c) {
          if (result.at({h, i, c}) != x.at({i, h * d + c})) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace learn
