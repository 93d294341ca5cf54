#include <cmath>

#include "phase6.hpp"

namespace learn {

TileState meet_tile(const TileState& before, const Tensor& q, const Tensor& k, const Tensor& v) {
  const double root = std::sqrt(double(q.size(1)));
  const Tensor scores = matmul(q, transpose(k)) / root;    // (rows, keys)
  const Tensor top = maximum(before.top, max(scores, 1));  // (rows)
  const Tensor correction = exp(before.top - top);         // (rows): 1 where the maximum stays
  const Tensor terms = exp(scores - unsqueeze(top, 1));    // (rows, keys)
  TileState after;
  after.top = top;
  after.total = before.total * correction + sum(terms, 1);                   // (rows)
  after.mixed = before.mixed * unsqueeze(correction, 1) + matmul(terms, v);  // (rows, d_v)
  return after;
}

}  // namespace learn
