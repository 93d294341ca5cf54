// One call of ring attention, as its two directions see it: which tiles this rank holds, and how
// the kernels of fused attention are called with several of them against one that travels.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/parallel_all.hpp"
#include "tapestry/distributed/ring_attention.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Tiles of this rank, from the one numbered `first` among its own, all with as many rows. One call
// of a kernel takes all of them, so that there are tasks for all threads.
struct TileGroup {
  Index first, count, rows;
};

struct RingCall {
  RingLayout layout;
  RingOptions options;
  Shape batch;  // leading axes
  Index width, value_width;
  std::vector<Index> mine;  // tiles of this rank, ascending
  Index rows;               // of these together

  Index heads() const { return batch.numel(); }
  Index most_rows() const { return std::min(layout.tile(), layout.length()); }  // of a tile

  // Groups of the own tiles that see the tile t, or that are seen by it.
  std::vector<TileGroup> that_see(Index t) const;
  std::vector<TileGroup> seen_by(Index t) const;
  Index largest_group() const;  // in tiles; by the number of threads, on which no bit depends

  // Numbers kept tile by tile, (own tiles, heads, rows of a tile): where those of own tile i begin.
  Index by_tile(Index i) const { return i * layout.tile() * heads(); }

  // The row of (heads, rows) that is row r of a group's (count, heads, rows of a tile).
  Index row(const TileGroup& g, Index r) const {
    const Index tile = r / (heads() * g.rows), head = r / g.rows % heads();
    return head * rows + (g.first + tile) * layout.tile() + r % g.rows;
  }

  // to (heads, rows of the tile, columns) from the rows of the own tile i in x (..., rows, columns)
  void pack(const Tensor& x, Index i, Index tile_rows, real* to) const;

 private:
  std::vector<TileGroup> groups(Index begin, Index end) const;
};

// A stack of matrices, as kernels want it: (tiles, leading axes..., rows, columns).
struct Stack {
  const real* data;
  Strides strides;
  Index row;

  kernels::MatrixView view() const { return {data, strides.data(), row, 1}; }
};

// The rows of a group in x (..., rows, columns); numbers of a row must be side by side.
Stack own_tiles(const RingCall& call, const TileGroup& g, const Tensor& x);

// (heads, rows, columns) at `data`, for each of the tiles that it meets the same.
Stack one_tile(const RingCall& call, const real* data, Index rows, Index columns);

// (tiles, heads, rows, columns) at `data`.
Stack tile_by_tile(const RingCall& call, const real* data, Index rows, Index columns);

// One number for each row, (tiles, heads, rows) or, for the same tile, (heads, rows): row sums of
// d_out * out, as attention_backward takes them.
Stack row_sums(const RingCall& call, const real* data, Index rows, bool same_tile);

// Who sees whom between own tiles and the tile that travels, for kernels.
struct PairMask {
  const RingCall* call;
  const Index *query_tiles, *key_tiles;
  Index query_step, key_step;  // 1 for those that are stacked, else 0
};

// The sizes of a call with `count` tiles stacked. Without mask only where the options have none at
// all: then the fallback for NaN (parallel_attention.cpp) is the same for a pair of tiles in every
// call.
kernels::AttentionShape shape_of_pairs(const PairMask& mask, Index count, Index queries,
                                       Index keys);

// The output (..., rows, d_v) of this rank's queries; log_sum receives (own tiles, heads, rows of a
// tile), the logsumexp of each row of scores.
Tensor ring_forward(Ranks& ranks, const RingCall& call, const Tensor& q, const Tensor& k,
                    const Tensor& v, Tensor& log_sum);

// What the backward pass needs of the forward pass, with the gradient of its output.
struct RingSaved {
  const Tensor &q, &k, &v;
  const Tensor &out, &log_sum;
  const Tensor& d_out;
};
struct RingGradients {
  Tensor d_q, d_k, d_v;  // undefined where not wanted; d_k and d_v both or none
};
RingGradients ring_backward(Ranks& ranks, const RingCall& call, const RingSaved& x, bool for_q,
                            bool for_kv);

}  // namespace tapestry
