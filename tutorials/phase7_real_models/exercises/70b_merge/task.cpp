// 70b. One merge
//
// Byte-pair encoding has chosen a pair of tokens, (left, right). Wherever `left` stands directly
// before `right`, both are replaced by one token, `made`. It goes from left to right, and a token
// that was merged is used up. With a = 0, b = 1 and made = 7:
//
//   (a, b) in  b a b a a b   gives  b 7 a 7
//   (a, a) in  a a a a a b   gives  7 7 a b
//
//   tokens   ids, any number of them, also none
//   merge    merge.left, merge.right, merge.made: ids; left and right may be equal
//   ->       ids
//
// tokens[i] is a token, std::ssize(tokens) or tokens.size() their number, and result.push_back(id)
// appends one.
// Lesson: tutorials/phase7_real_models/1_tokens_and_parts.md, "70 From letters to tokens"
#include "phase7.hpp"

namespace learn {

std::vector<Index> merged(const std::vector<Index>& tokens, const TokenMerge& merge) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
