#include "phase2.hpp"

namespace learn {

LayerNormGradients layer_norm_backward(const Tensor& x, const Tensor& gain, double eps,
                                       const Tensor& dy) {
  const Tensor centred = x - mean(x, 1, true);                              // (n, d)
  const Tensor deviation = sqrt(mean(centred * centred, 1, true) + eps);    // (n, 1)
  const Tensor standard = centred / deviation;                              // (n, d)
  const Tensor s = dy * gain;                                               // (n, d)
  const Tensor through_mean = mean(s, 1, true);                             // (n, 1)
  const Tensor through_deviation = standard * mean(s * standard, 1, true);  // (n, d)
  return {(s - through_mean - through_deviation) / deviation,               // (n, d)
          sum(dy * standard, 0), sum(dy, 0)};                               // (d), (d)
}

}  // namespace learn
