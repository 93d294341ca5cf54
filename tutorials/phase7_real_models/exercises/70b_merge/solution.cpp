#include "phase7.hpp"

namespace learn {

std::vector<Index> merged(const std::vector<Index>& tokens, const TokenMerge& merge) {
  std::vector<Index> result;
  std::size_t i = 0;
  while (i < tokens.size()) {
    const bool is_pair =
        i + 1 < tokens.size() && tokens[i] == merge.left && tokens[i + 1] == merge.right;
    result.push_back(is_pair ? merge.made : tokens[i]);
    i += is_pair ? 2 : 1;
  }
  return result;
}

}  // namespace learn
