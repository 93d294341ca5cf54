// 71a. RMS norm
//
// Layer norm (27a) subtracts the mean of a row and divides by its deviation. Llama (Meta, 2023)
// only divides, by the root of the mean square:
//
//   square_i  = (sum over c of x_ic^2) / d
//   result_ic = x_ic / sqrt(square_i + eps) * gain_c
//
//   x      (n, d)
//   gain   (d), learned
//   eps    a small number, so that a row of zeros is not divided by 0
//   ->     (n, d)
//
// Nothing is subtracted, and nothing is added behind the gain. (The judge takes a large eps, so
// that its place can be seen.)
// Lesson: tutorials/phase7_real_models/1_tokens_and_parts.md, "71 What changed since 2017"
#include <cmath>

#include "phase7.hpp"

namespace learn {

Tensor rms_norm_forward(const Tensor& x, const Tensor& gain, double eps) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
