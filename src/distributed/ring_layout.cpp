#include <algorithm>
#include <string>

#include "tapestry/distributed/ring_attention.hpp"
#include "tapestry/error.hpp"

namespace tapestry {

RingLayout::RingLayout(Index length, Index tile, int ranks)
    : length_(length), tile_(tile), ranks_(ranks) {
  // Kernels cut more keys into parts, as many as suits the heads of one call.
  constexpr Index most = 1024;
  if (length >= 0 && tile >= 1 && tile <= most && ranks >= 1) return;
  throw Error("ring attention: length " + std::to_string(length) + ", tile " +
              std::to_string(tile) + ", ranks " + std::to_string(ranks) +
              ": the length must not be negative, a tile is 1 to " + std::to_string(most) +
              " positions, and there is at least one rank.");
}

int RingLayout::owner(Index t) const {
  const Index place = t % (2 * ranks_);
  return static_cast<int>(place < ranks_ ? place : 2 * ranks_ - 1 - place);
}

std::vector<Index> RingLayout::tiles_of(int rank) const {
  std::vector<Index> mine;
  for (Index t = 0; t < tiles(); ++t) {
    if (owner(t) == rank) mine.push_back(t);
  }
  return mine;
}

std::vector<Index> RingLayout::positions(int rank) const {
  std::vector<Index> all;
  for (const Index t : tiles_of(rank)) {
    for (Index i = 0; i < rows(t); ++i) all.push_back(first(t) + i);
  }
  return all;
}

Index RingLayout::rows_of(int rank) const {
  Index sum = 0;
  for (const Index t : tiles_of(rank)) sum += rows(t);
  return sum;
}

}  // namespace tapestry
