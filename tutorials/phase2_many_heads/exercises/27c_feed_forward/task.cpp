// 27c. The feed-forward layer
//
// Attention moves something between words. The feed-forward layer then works on each word's row
// alone: to more numbers, through GELU, and back.
//
//   wide_ik   = gelu(sum over c of x_ic up_ck + up_bias_k)
//   result_ic = sum over k of wide_ik down_kc + down_bias_c
//   gelu(t)   = t (1 + erf(t / sqrt(2))) / 2
//
//   x          (n, d)
//   up         (d, w)      up_bias    (w)
//   down       (w, d)      down_bias  (d)
//   ->         (n, d)
//
// Without GELU both matrices could be replaced by one, their product. With loops and std::erf, or
// with matmul and the library's gelu; adding a bias (w) to a matrix (n, w) adds it to every row.
// Lesson: tutorials/phase2_many_heads/README.md, "27 The model around attention: a block, built"
#include "phase2.hpp"

namespace learn {

Tensor feed_forward(const Tensor& x, const Tensor& up, const Tensor& up_bias, const Tensor& down,
                    const Tensor& down_bias) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
