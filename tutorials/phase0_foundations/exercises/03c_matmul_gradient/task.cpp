// 03c. The gradient of a matrix product
//
// Let c = a b, and let dc be the gradient of c: how the loss changes with each element of c. What
// are the gradients of a and b? Element a_ik is a factor in every element of row i of c, each time
// with another number of b, and all these uses add up:
//
//   da_ik = sum over j of dc_ij b_kj
//   db_kj = sum over i of a_ik dc_ij
//
//   dc   (m, n)
//   a    (m, k)
//   b    (k, n)
//   ->   {da, db}, shaped like a and b
//
// Each of the two sums is a matrix product again, of one of the factors transposed. You may use
// matmul(x, y) and transpose(x), or write loops. If all matrices are square, every wrong
// combination has the right shape: look at the indices, not at the shapes.
// Lesson: tutorials/phase0_foundations/README.md, "03 The matrix product" and "02 The tape"
#include "phase0.hpp"

namespace learn {

MatmulGradients matmul_backward(const Tensor& dc, const Tensor& a, const Tensor& b) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
