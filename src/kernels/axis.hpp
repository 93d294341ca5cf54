// Loops along one axis of (outer, length, inner), the same for every set of kernels.
//
// Arrays are contiguous, and nothing is checked. Each run along the axis is done by one thread,
// from one end to the other, with sums and products in double: the bits are the same for any number
// of threads.
#pragma once

#include <cstdint>

#include "tapestry/real.hpp"

namespace tapestry::kernels {

// y[o, j, i] = x[o, 0, i] + ... + x[o, j, i], or from the other end
void cumsum(const real* x, Index outer, Index length, Index inner, bool from_the_end, real* y);

// dx[o, j, i] = dy[o, i] times the product of all x[o, k, i] but that of k = j: no division, so
// that zeros do no harm
void prod_backward(const real* dy, const real* x, Index outer, Index length, Index inner, real* dx);

// place[o, i] = the first j with the largest (or smallest) x[o, j, i]; the first NaN where there is
// one. The length is at least 1.
void arg_extreme(const real* x, Index outer, Index length, Index inner, bool largest,
                 std::int32_t* place);

// place[o, 0 ... k - 1, i]: where the k largest (or smallest) x[o, j, i] stand, best first, of
// equal ones the first first. A NaN counts as larger than every number.
void topk(const real* x, Index outer, Index length, Index inner, Index k, bool largest,
          std::int32_t* place);

}  // namespace tapestry::kernels
