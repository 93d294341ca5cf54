// 60c. A penalty for distance
//
// ALiBi tells positions in the scores: to the score of query i and key j it adds a number that only
// depends on how far apart they are. Each head h has a slope of its own; head 0 has the steepest
// and looks nearest. Nothing is learned.
//
//   slope_h       = 2^(-8 (h + 1) / heads)       for h = 0, 1, ..., heads - 1
//   b[h, i, j]    = -slope_h |i - j|
//
//   heads    how many heads there are, a power of two
//   length   how many words: queries and keys
//   ->       (heads, length, length), to be added to the scores
//
// The mask is not part of it: keys after the query get their penalty, too.
// Lesson: tutorials/phase6_every_attention/1_positions.md, "In the scores: a bias by distance"
#include <cmath>
#include <cstdlib>

#include "phase6.hpp"

namespace learn {

Tensor distance_penalty(Index heads, Index length) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
