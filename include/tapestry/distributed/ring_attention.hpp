// Ring attention (Liu et al. 2023): attention over a sequence that no rank holds as a whole.
//
//   const RingOptions options{.is_causal = true};
//   const RingLayout layout(length, options.tile, ranks.size());
//   // q, k, v: rows of the positions layout.positions(ranks.rank()), in that order
//   const Tensor y = ring_attention(ranks, q, k, v, length, options);  // these rows of the output
//
// The sequence is cut into tiles. Queries stay where they are; tiles of keys and values travel from
// rank to rank, and the online softmax continues from tile to tile.
#pragma once

#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

struct RingOptions {
  bool is_causal = false;           // a query sees keys at or before its own position
  std::vector<Index> lengths = {};  // of each sequence, along the first axis: keys from there on
                                    // are padding; empty: none is
  Index tile = 256;                 // positions, 1 to 1024; the bits of results depend on it
  ScoreOptions scores = {};
};

// Which positions of the sequence a rank holds: whole tiles, dealt in zig-zag order. Of each 2R
// tiles in a row rank 0 gets the first and the last, rank 1 those beside them, and so on; so that
// under a causal mask, where the tile j is seen by the tiles from j on, all ranks have as much to
// do at every moment. The last tile is shorter where `tile` does not divide the length; a rank gets
// none where there are fewer tiles than ranks.
class RingLayout {
 public:
  // Throws Error for a negative length, a tile outside 1 .. 1024 and less than one rank.
  RingLayout(Index length, Index tile, int ranks);

  Index length() const { return length_; }
  Index tile() const { return tile_; }
  [[nodiscard]] Index tiles() const { return (length_ + tile_ - 1) / tile_; }
  [[nodiscard]] Index first(Index t) const { return t * tile_; }  // position where tile t begins
  [[nodiscard]] Index rows(Index t) const {
    return t < length_ / tile_ ? tile_ : length_ - first(t);
  }

  [[nodiscard]] int owner(Index t) const;                     // the rank that holds tile t
  [[nodiscard]] std::vector<Index> tiles_of(int rank) const;  // ascending

  // Of the rank's rows, in their order: for position encodings, tokens and targets. And how many.
  [[nodiscard]] std::vector<Index> positions(int rank) const;
  [[nodiscard]] Index rows_of(int rank) const;

 private:
  Index length_, tile_;
  int ranks_;
};

// softmax(q k^T / sqrt(d_k), where visible) v, the rows of this rank; the numbers of
// fused_attention over the whole sequence, to rounding.
//
// q, k (..., rows, d_k) and v (..., rows, d_v) are this rank's rows of a sequence of `length`
// positions, in the order of RingLayout; leading axes are equal. All ranks call it, with the same
// options, and also run its backward pass: where a tape records on one rank, it does on all.
//
// The bits of the output and of the gradients depend on `tile`, but not on how many ranks or
// threads there are: every query tile meets the key tiles in ascending order, on whichever rank.
// Masked values have no influence, even where they are NaN or infinite. A query that sees no key
// gets zeros, and zero gradients.
//
// Memory beyond the rank's own rows is a few tiles. The backward pass goes round twice, so that
// sums keep their order and none of them travels: first k and v, for the gradients of the own
// queries; then q, the gradient of the output and two numbers for each row, for those of its own
// keys and values. That is as much traffic as the usual ring's (k, v and their gradients), but 7
// products of tiles instead of 5. A rank alone goes round once, with 5, and gets the same bits.
//
// In lines about faults a step is a tile.
// Throws Error, naming the operands or the ranks that differ, if shapes do not fit each other or
// the layout, for lengths that are negative or not one for each sequence, and if ranks were called
// with other options or shapes.
[[nodiscard]] Tensor ring_attention(Ranks& ranks, const Tensor& q, const Tensor& k, const Tensor& v,
                                    Index length, const RingOptions& options = {});

}  // namespace tapestry
