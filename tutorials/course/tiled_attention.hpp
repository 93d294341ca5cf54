// What steps 6d and 6g share: operands of attention that are cut into tiles, softmax that meets its
// scores tile by tile (step 64), and the gradients of the tape to compare with.
#pragma once

#include <vector>

#include "tapestry/tensor.hpp"

namespace tapestry {

struct TiledOperands {
  Index tile;       // so many queries and so many keys; it divides length
  Tensor q, k, v;   // (length, width) each, q already divided by sqrt(width)
  Tensor d_output;  // (length, width): the gradient that arrives

  Index tiles() const { return q.size(0) / tile; }
  // Rows of tile i of a tensor with `length` rows: (tile, ...)
  Tensor rows(const Tensor& x, Index i) const;
};
TiledOperands draw_tiled(Index length, Index width, Index tile);  // always the same numbers

// What is known of a tile of queries after some keys.
struct RunningSoftmax {
  Tensor top;    // (tile, 1): largest score so far
  Tensor total;  // (tile, 1): sum of exp(score - top)
  Tensor mixed;  // (tile, width): sum of exp(score - top) value
};
RunningSoftmax nothing_met(Index tile, Index width);

// The queries meet some keys: scores (tile, keys), v (keys, width).
void meet(RunningSoftmax& now, const Tensor& scores, const Tensor& v);

struct OperandGradients {
  Tensor q, k, v;  // (length, width) each
};
double largest_difference(const OperandGradients& a, const OperandGradients& b);

// f, one head of attention, records on a tape: x -> (length, width).
OperandGradients gradients_by_tape(Tensor (*f)(const TiledOperands& x), const TiledOperands& x);

// One such f, which keeps all weights: attention() of the library.
Tensor by_book(const TiledOperands& x);

}  // namespace tapestry
