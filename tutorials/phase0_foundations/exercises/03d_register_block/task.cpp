// 03d. A block of the product in registers
//
// In 03b every number of c is read and written once for each k. Keep it in a register instead: take
// a block of c of 4 rows and as many columns as one instruction computes with, and hold it in 4
// variables of type Batch while k runs over everything. A row of b that was loaded serves 4 rows.
//
//   Batch sum(0);                            all lanes 0; Batch::size is how many there are
//   Batch row = Batch::load_unaligned(p);    the numbers p[0], p[1], ... up to Batch::size
//   sum += Batch(x) * row;                   x times each of them
//   sum.store_unaligned(q);                  writes them to q[0], q[1], ...
//
//   a    (m, k)
//   b    (k, n)
//   ->   (m, n), the product
//
// m need not be a multiple of 4, nor n one of Batch::size: the rows and columns that are left over
// are computed number by number. Nothing may be read beyond the end of a row of b.
// Lesson: tutorials/phase0_foundations/README.md, "03 The matrix product"
#include <xsimd/xsimd.hpp>

#include "phase0.hpp"

namespace learn {

using Batch = xsimd::batch<real>;

Tensor matmul_blocked(const Tensor& a, const Tensor& b) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
