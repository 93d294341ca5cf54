// 60b. Rotary positions
//
// Nothing is added to the words. Instead the query of the word at position m and the key of the
// word at position n are rotated. A row of d numbers is d / 2 points in the plane: columns 2i and
// 2i + 1 are a point (a, b). In the row at position m, that point is rotated by the angle
// t = m / 10000^(2i / d):
//
//   (a, b)  becomes  (a cos t - b sin t, a sin t + b cos t)
//
// 1. rotated(x, first)
//   x        (length, d), d even; its rows stand at positions first, first + 1, ...
//   ->       (length, d)
// 2. rotary_scores(q, k, first): the dot product of each rotated query and each rotated key
//   q        (queries, d), at positions first, first + 1, ... (earlier words stand in a cache)
//   k        (keys, d), at positions 0, 1, ...
//   ->       (queries, keys), not divided by anything
//
// matmul(a, transpose(b)) has the dot product of row i of a and row j of b at (i, j).
// Lesson: tutorials/phase6_every_attention/1_positions.md, "In queries and keys: rotary positions"
#include <cmath>

#include "phase6.hpp"

namespace learn {

Tensor rotated(const Tensor& x, Index first) {
  // Yours.
  not_written_yet();
}

Tensor rotary_scores(const Tensor& q, const Tensor& k, Index first) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
