#include "phase7.hpp"

namespace learn {

Tensor pair_counts(const std::vector<CountedPiece>& pieces, Index tokens) {
  Tensor counts = Tensor::zeros({tokens, tokens});  // (tokens, tokens)
  for (const CountedPiece& piece : pieces) {
    for (std::size_t i = 1; i < piece.tokens.size(); ++i) {
      const Index left = piece.tokens[i - 1], right = piece.tokens[i];
      counts.set({left, right}, double{counts.at({left, right})} + double(piece.count));
    }
  }
  return counts;
}

TokenPair pair_to_merge(const std::vector<CountedPiece>& pieces, Index tokens) {
  const Tensor counts = pair_counts(pieces, tokens);  // (tokens, tokens)
  TokenPair best;
  for (Index left = 0; left < tokens; ++left) {
    for (Index right = 0; right < tokens; ++right) {
      if (counts.at({left, right}) > counts.at({best.left, best.right})) best = {left, right};
    }
  }
  return best;
}

}  // namespace learn
