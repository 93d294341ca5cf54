// 03b. The matrix product in the order i, k, j
//
// The same products as in 03a, but the two inner loops change places, and the product is added to
// what c holds already:
//
//   c_ij += sum over k of a_ik b_kj
//
//   a    (m, k)
//   b    (k, n)
//   c    (m, n), changed in place
//
// The loop over j is now the innermost. It takes one number, a_ik, and adds a_ik times row k of b
// to row i of c; so it walks along rows, whose numbers are neighbours in memory. For the same
// reason write with addresses: real* row = c.data() + i * n. Do not use the library's matmul.
// That it adds is useful: a gradient that arrives from two sides is a sum, too.
// Lesson: tutorials/phase0_foundations/README.md, "03 The matrix product"
#include "phase0.hpp"

namespace learn {

void matmul_accumulate(Tensor& c, const Tensor& a, const Tensor& b) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
