// 27a. Layer norm
//
// Layer norm brings each row to a mean of 0 and a deviation of 1; then every column gets a learned
// gain and a learned shift. For row i of x:
//
//   mean      = (sum over c of x_ic) / d
//   variance  = (sum over c of (x_ic - mean)^2) / d
//   result_ic = (x_ic - mean) / sqrt(variance + eps) * gain_c + shift_c
//
//   x             (n, d)
//   gain, shift   (d)
//   eps           a small number, so that a row of equal numbers is not divided by 0
//   ->            (n, d)
//
// The variance is divided by d, not by d - 1: it is no estimate from a sample, it describes this
// row. (The judge takes a large eps, so that its place can be seen.)
// Lesson: tutorials/phase2_many_heads/README.md, "27 The model around attention: a block, built"
#include "phase2.hpp"

namespace learn {

Tensor layer_norm_forward(const Tensor& x, const Tensor& gain, const Tensor& shift, double eps) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
