// 71b. SwiGLU: a feed-forward layer with a gate
//
// The feed-forward layer of 2017 has two matrices and an activation between them (27c). Llama's has
// three: one of them makes gates, and each number on the way is multiplied by its gate.
//
//   wide_ik   = silu(sum over c of x_ic gate_ck) * (sum over c of x_ic up_ck)
//   result_ic = sum over k of wide_ik down_kc
//   silu(t)   = t / (1 + exp(-t))
//
//   x          (n, d)
//   gate, up   (d, w)
//   down       (w, d)
//   ->         (n, d)
//
// There are no biases. With loops and std::exp, or with matmul and the library's silu.
// Lesson: tutorials/phase7_real_models/1_tokens_and_parts.md, "71 What changed since 2017"
#include <cmath>

#include "phase7.hpp"

namespace learn {

Tensor swiglu(const Tensor& x, const Tensor& gate, const Tensor& up, const Tensor& down) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
