// 03a. The matrix product
//
// Element (i, j) of a matrix product is the dot product of row i of a and column j of b:
//
//   c_ij = sum over k of a_ik b_kj
//
//   a    (m, k)
//   b    (k, n)
//   ->   (m, n)
//
// Write it as three loops over numbers, without the library's matmul. a.at({i, k}) reads a number,
// c.set({i, j}, x) writes one, and Tensor::zeros({m, n}) makes c. Or use the addresses:
// a.data()[i * a.size(1) + k] is a_ik, since a matrix lies in memory row by row. Keep the sum in a
// variable and write it once.
// Lesson: tutorials/phase0_foundations/README.md, "03 The matrix product"
#include "phase0.hpp"

namespace learn {

Tensor matmul_forward(const Tensor& a, const Tensor& b) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
