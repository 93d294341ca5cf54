#include "course/tiled_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tapestry/attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {

Tensor TiledOperands::rows(const Tensor& x, Index i) const {
  return slice(x, 0, i * tile, (i + 1) * tile);
}

TiledOperands draw_tiled(Index length, Index width, Index tile) {
  Random random(12);
  return {tile, random.normal({length, width}) / std::sqrt(double(width)),
          random.normal({length, width}), random.normal({length, width}),
          random.normal({length, width})};  // (length, width) each
}

RunningSoftmax nothing_met(Index tile, Index width) {
  return {Tensor::full({tile, 1}, -std::numeric_limits<double>::infinity()),
          Tensor::zeros({tile, 1}),
          Tensor::zeros({tile, width})};  // (tile, 1) twice, (tile, width)
}

void meet(RunningSoftmax& now, const Tensor& scores, const Tensor& v) {
  const Tensor top = maximum(now.top, max(scores, -1, true));  // (tile, 1)
  const Tensor correction = exp(now.top - top);                // (tile, 1)
  const Tensor terms = exp(scores - top);                      // (tile, keys)
  const Tensor added = sum(terms, -1, true);                   // (tile, 1)
  now.total = now.total * correction + added;                  // (tile, 1)
  const Tensor values = matmul(terms, v);                      // (tile, width)
  now.mixed = now.mixed * correction + values;                 // (tile, width)
  now.top = top;
}

double largest_difference(const OperandGradients& a, const OperandGradients& b) {
  return std::max(
      {largest_difference(a.q, b.q), largest_difference(a.k, b.k), largest_difference(a.v, b.v)});
}

OperandGradients gradients_by_tape(Tensor (*f)(const TiledOperands& x), const TiledOperands& x) {
  Tape tape({x.q, x.k, x.v});
  const Gradients g = tape.backward(f(x), x.d_output);
  return {g.at(0), g.at(1), g.at(2)};
}

Tensor by_book(const TiledOperands& x) {
  return attention(x.q, x.k, x.v, {}, 0, nullptr, {}, {.scale = 1}).output;
}

}  // namespace tapestry
