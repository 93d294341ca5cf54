// 27b. The gradient of layer norm
//
// With standard_ic = (x_ic - mean) / deviation, deviation = sqrt(variance + eps), layer norm gives
// y_ic = standard_ic gain_c + shift_c. The gradient dy arrives. gain_c and shift_c act in every
// row, so their gradients are sums over all rows:
//
//   dshift_c = sum over i of dy_ic
//   dgain_c  = sum over i of dy_ic standard_ic
//
// x_ic also moves the mean and the deviation of its row. With s_ic = dy_ic gain_c, the gradient of
// standard, and means over the row's d numbers:
//
//   dx_ic = (s_ic - mean of s_i - standard_ic * mean of (s_i standard_i)) / deviation_i
//
//   x, dy    (n, d)
//   gain     (d)
//   ->       LayerNormGradients with dx (n, d), dgain (d), dshift (d): return {a, b, c};
//
// Without a Tape; the judge compares with a tape's.
// Lesson: tutorials/phase2_many_heads/README.md, "27 The model around attention: a block, built"
#include "phase2.hpp"

namespace learn {

LayerNormGradients layer_norm_backward(const Tensor& x, const Tensor& gain, double eps,
                                       const Tensor& dy) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
