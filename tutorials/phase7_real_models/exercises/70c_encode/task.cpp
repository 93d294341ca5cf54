// 70c. A text as tokens
//
// The merges of byte-pair encoding were learned one after the other. To encode a piece of text,
// they are applied again: of all pairs of neighbours for which there is a merge, take the one whose
// merge was learned *first*, and merge it wherever it stands, from left to right. Then look again:
// the new tokens have new neighbours. It ends when no pair of neighbours has a merge.
//
// With merges (b, c) -> 7, (a, b) -> 8, (a, 7) -> 9 in this order:
//
//   a b c d   first (b, c): a 7 d   then (a, 7): 9 d
//
// though (a, b) stands further to the left.
//
//   tokens   ids of one piece, any number, also none
//   merges   in the order in which they were learned: merges[m].left, .right and .made. Each makes
//            a new id, which is in no merge before it
//   ->       ids
//
// Your function of 70b may be copied to here.
// Lesson: tutorials/phase7_real_models/1_tokens_and_parts.md, "70 From letters to tokens"
#include "phase7.hpp"

namespace learn {

std::vector<Index> encoded(const std::vector<Index>& tokens,
                           const std::vector<TokenMerge>& merges) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
