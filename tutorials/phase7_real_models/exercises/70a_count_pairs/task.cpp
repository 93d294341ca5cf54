// 70a. The pair of tokens that is merged next
//
// Byte-pair encoding (BPE) learns tokens from a text. It begins with a token for each letter, and
// then makes one new token after the other: the pair of neighbours that the text has most often
// becomes a token of its own. Before that the text was cut into pieces, about a word each; the last
// token of a piece and the first one of the next are no pair. Equal pieces are kept once, with
// their count.
//
// 1. pair_counts: how often each token stands directly before each other one, in the whole text.
//    Every place counts: in the piece a a a the pair (a, a) stands twice.
//    pieces   a list of {tokens, count}: piece.tokens are ids, and the text has the piece
//             piece.count times
//    tokens   how many tokens there are; ids are 0 to tokens - 1
//    ->       (tokens, tokens): the left token is the row, the right one the column
// 2. pair_to_merge: the pair with the highest count. Of pairs that stand equally often take the one
//    with the lowest left id; of those the one with the lowest right id.
//    ->       {left, right}
//
// counts.set({i, j}, counts.at({i, j}) + 1) adds 1 to a cell.
// Lesson: tutorials/phase7_real_models/1_tokens_and_parts.md, "70 From letters to tokens"
#include "phase7.hpp"

namespace learn {

Tensor pair_counts(const std::vector<CountedPiece>& pieces, Index tokens) {
  // Yours.
  not_written_yet();
}

TokenPair pair_to_merge(const std::vector<CountedPiece>& pieces, Index tokens) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
