// 62a. A window: who sees whom
//
// Most words matter to their neighbours. So let each word see only the words that are at most
// `width` places away from it. Write the mask: 1 where query i may see key j, else 0.
//
//   both sides          1 if |i - j| <= width:  width words before i, i itself, width words after
//   causal              1 if i - width <= j <= i:  width words before i, and i itself
//
//   length   how many words: queries and keys
//   width    how far each of them sees, 1 or more
//   causal   whether what comes later is hidden
//   ->       (length, length)
//
// Lesson: tutorials/phase6_every_attention/2_fewer_pairs.md, "62 Patterns"
#include "phase6.hpp"

namespace learn {

Tensor window_mask(Index length, Index width, bool causal) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
