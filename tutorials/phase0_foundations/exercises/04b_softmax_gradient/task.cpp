// 04b. The gradient of softmax
//
// Let y = softmax(x), row by row. A score x_ij changes its own weight, and all others of the row,
// too, because they share their sum. The slope of y_ik by x_ij is
//
//   y_ij (1 - y_ij)  if k = j,    -y_ik y_ij  otherwise
//
// Multiplied by the gradients dy_ik and added up over k, this is short:
//
//   dx_ij = y_ij (dy_ij - s_i),   s_i = sum over k of dy_ik y_ik
//
//   dy   (n, m), the gradient of y
//   y    (n, m), the weights that softmax made; the scores are not needed
//   ->   (n, m), the gradient of the scores
// Lesson: tutorials/phase0_foundations/README.md, "04 Softmax" and "02 The tape"
#include "phase0.hpp"

namespace learn {

Tensor softmax_backward(const Tensor& dy, const Tensor& y) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
