// 60d. A test: does a score depend on the distance alone?
//
// Rotary positions and ALiBi promise this: move a query and a key by the same number of places, and
// their score stays what it was. Write a test that finds out whether a function keeps the promise:
//
//   score(query, m, key, n) is the score of a query at position m and a key at position n
//
//   query, key   vectors of 8 numbers; draw some yourself: Random random(1); random.normal({8})
//   m, n         positions, 0 to 31: the longest text has 32 words; a key may stand before its
//                query, at it, or after it
//   ->           true if score(q, m, k, n) = score(q, m', k, n') whenever m - n = m' - n'
//
// Right functions round, by less than 1e-4; the wrong ones are off by 0.01 or more somewhere. The
// judge gives your test three functions that keep the promise, and eight that break it, each in
// its own way. True for the three and false for the eight is what is asked for.
// Lesson: tutorials/phase6_every_attention/1_positions.md, "In queries and keys: rotary positions"
#include <cmath>

#include "phase6.hpp"

namespace learn {

bool depends_on_distance_only(const PairScore& score) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
