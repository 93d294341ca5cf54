// 21a. Splitting rows into heads
//
// Each word has a row of numbers. The first d of them are for head 0, the next d for head 1, and
// so on. Cut all rows and bring the heads to the front:
//
//   result[h, i, c] = x[i, h d + c]       head h, word i, number c of that head
//
//   x       (n, heads d)
//   heads   how many; d is the width of x divided by heads
//   ->      (heads, n, d)
//
// For two heads, head 0 of
//
//   [ 0  1  2  3 ]        [ 0 1 ]                  [ 2 3 ]
//   [ 4  5  6  7 ]   is   [ 4 5 ]   and head 1 is  [ 6 7 ]
//
// Write it with loops, or with reshape and transpose(x, one axis, other axis).
// Lesson: tutorials/phase2_many_heads/README.md, "21 Splitting a row"
#include "phase2.hpp"

namespace learn {

Tensor split_into_heads(const Tensor& x, Index heads) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
