#include "phase7.hpp"

namespace learn {

static std::vector<Index> after(const std::vector<Index>& tokens, const TokenMerge& merge) {
  std::vector<Index> result;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_pair =
        i + 1 < tokens.size() && tokens[i] == merge.left && tokens[i + 1] == merge.right;
    result.push_back(is_pair ? merge.made : tokens[i]);
    if (is_pair) ++i;
  }
  return result;
}

// What a merge makes is new, so a pair with it was learned later: each merge is needed once.
std::vector<Index> encoded(const std::vector<Index>& tokens,
                           const std::vector<TokenMerge>& merges) {
  std::vector<Index> result = tokens;
  for (const TokenMerge& merge : merges) result = after(result, merge);
  return result;
}

}  // namespace learn
