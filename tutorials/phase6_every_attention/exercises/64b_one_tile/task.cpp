// 64b. A tile of keys meets a tile of queries
//
// Fused attention keeps no matrix of scores. Some queries meet some keys; their scores are made,
// used, and forgotten. What stays of all keys so far is a TileState (phase6.hpp). Row i of it, when
// query i meets the keys of this tile:
//
//   s_j    = q_i . k_j / sqrt(d)
//   top'   = max(top, all s_j)
//   total' = exp(top - top') total + sum over j of exp(s_j - top')
//   mixed' = exp(top - top') mixed + sum over j of exp(s_j - top') v_j
//
//   before   top (rows), total (rows), mixed (rows, d_v); a query that has met no key yet has top
//            -infinity, total 0 and mixed 0
//   q        (rows, d)
//   k        (keys, d)
//   v        (keys, d_v)
//   ->       the state after the tile, with shapes as before
//
// Do not write into `before`: a Tensor is a handle, and its copy shares the numbers. Loops do it;
// so do max, exp, sum, matmul (lesson 64 has that form).
// Lesson: tutorials/phase6_every_attention/3_less_memory.md, "64 Tile by tile"
#include <algorithm>
#include <cmath>

#include "phase6.hpp"

namespace learn {

TileState meet_tile(const TileState& before, const Tensor& q, const Tensor& k, const Tensor& v) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
