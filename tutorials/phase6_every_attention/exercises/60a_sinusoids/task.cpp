// 60a. A row of sinusoids for each position
//
// Attention does not know in which order words stand, unless it is told. One way: add to each word
// a row of numbers that belongs to its position m. The row consists of pairs, a sine and a cosine
// of the same angle. Pair i (counted from 0) stands in columns 2i and 2i + 1:
//
//   p[m, 2i]     = sin(m / 10000^(2i / width))
//   p[m, 2i + 1] = cos(m / 10000^(2i / width))
//
//   length   how many positions there are: m = 0, 1, ..., length - 1
//   width    how many numbers a row has; an odd width ends with a sine
//   ->       (length, width)
//
// std::pow(a, b) is a to the power b. Take care that 2i / width is no division of whole numbers:
// double(2 * i) / double(width).
// Lesson: tutorials/phase6_every_attention/1_positions.md, "In the vectors: sinusoids"
#include <cmath>

#include "phase6.hpp"

namespace learn {

Tensor sinusoids(Index length, Index width) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
