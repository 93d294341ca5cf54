// 83a. What is known of two tiles, merged
//
// Some queries met the keys of tile a, and separately those of tile b. Of each they know
//
//   top = the largest score, total = sum of exp(score - top), mixed = sum of exp(score - top) value
//
// What would they know if they had met all keys at once? Bring both to the larger top:
//
//   top = max(top_a, top_b),  total = exp(top_a - top) total_a + exp(top_b - top) total_b
//
// and mixed likewise. A query may see no key of a tile, because of the mask: then its top is
// -infinity, its total 0 and its mixed 0. If it saw none in either, that is the result, too, and
// not NaN.
//
//   a, b   top (rows), total (rows), mixed (rows, d_v)
//   ->     the same of all keys
//
// Lesson: tutorials/phase8_many_machines/README.md, "83 Attention on a ring"
#include <algorithm>
#include <cmath>

#include "phase8.hpp"

namespace learn {

KeySums merge_tiles(const KeySums& a, const KeySums& b) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
