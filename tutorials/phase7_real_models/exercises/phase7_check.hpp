// What the checks of phase 7 share: inputs are tensors, functions also take tokens.
#pragma once

#include <cmath>
#include <vector>

#include "course/exercise.hpp"
#include "phase7.hpp"

namespace tapestry {

using TokenIds = std::vector<Index>;

inline Tensor tensor_of(const TokenIds& tokens) {
  return Tensor({std::ssize(tokens)}, std::vector<real>(tokens.begin(), tokens.end()));
}

// The ids of a row; -1 stands behind the end of a short one.
inline TokenIds tokens_of(const Tensor& row) {
  TokenIds tokens;
  for (const real id : row.values()) {
    if (id >= 0) tokens.push_back(Index(std::lround(id)));
  }
  return tokens;
}

inline bool stands_at(const TokenIds& tokens, std::size_t i, Index left, Index right) {
  return i + 1 < tokens.size() && tokens[i] == left && tokens[i + 1] == right;
}

// The ids 0 to count - 1 in random order.
inline TokenIds shuffled_ids(Random& random, Index count) {
  TokenIds ids;
  for (Index id = 0; id < count; ++id) {
    const auto at = random.randint(id + 1);
    ids.insert(ids.begin() + static_cast<std::ptrdiff_t>(at), id);
  }
  return ids;
}

}  // namespace tapestry
