// 21b. Joining heads
//
// The inverse of 21a. Each head made d numbers for each word; side by side they are the word's
// row again, those of head 0 first:
//
//   result[i, h d + c] = x[h, i, c]       head h, word i, number c of that head
//
//   x    (heads, n, d)
//   ->   (n, heads d)
//
// Splitting and joining again gives the same matrix.
// Lesson: tutorials/phase2_many_heads/README.md, "22 A loop, or one matrix"
#include "phase2.hpp"

namespace learn {

Tensor join_heads(const Tensor& x) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
