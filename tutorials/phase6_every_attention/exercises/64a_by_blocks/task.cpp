// 64a. Softmax and mixture, block by block
//
// A query's scores come in blocks, and each block is forgotten when the next one comes. Its output
// is asked for all the same: the values, weighted by the softmax of all scores. Carry three things
// along. A block comes, with scores s_j and values v_j:
//
//   top'   = max(top, the s_j of the block)            top is -infinity at first
//   total' = exp(top - top') total + sum of exp(s_j - top')
//   mixed' = exp(top - top') mixed + sum of exp(s_j - top') v_j
//
// After the last block the output is mixed / total.
//
//   scores   (n), from below -1000 to above 1000: exp of them is not finite, or 0
//   values   (n, d)
//   block    how many keys a block has; the last one may have fewer
//   ->       (d)
//
// -infinity is written -INFINITY, and exp of it is 0.
// Lesson: tutorials/phase6_every_attention/3_less_memory.md, "64 Tile by tile"
#include <algorithm>
#include <cmath>
#include <vector>

#include "phase6.hpp"

namespace learn {

Tensor mixture_by_blocks(const Tensor& scores, const Tensor& values, Index block) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
