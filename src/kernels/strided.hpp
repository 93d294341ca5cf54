// Loops that move numbers: strided copies, gathers, and their gradients. They are bound by memory,
// so plain code serves every instruction set.
#pragma once

#include <cstdint>

#include "tapestry/real.hpp"

namespace tapestry::kernels {

inline constexpr int max_ndim = 6;

// The sizes of a block of numbers, outermost first. Rank 0 is a single number.
struct Sizes {
  int rank = 0;
  Index size[max_ndim] = {};

  Index numel() const;  // how many numbers in all; 1 for rank 0
};

// to[i, j, ...] = from[i, j, ...], each side with strides in elements, one per dimension. Strides
// of `from` may be 0 (repeat) or negative (reverse); those of `to` must not overlap elements.
void copy(const Sizes& sizes, const real* from, const Index* from_strides, real* to,
          const Index* to_strides);

// y[i, :] = table[ids[i], :] for `count` ids; rows are `width` long
void gather_rows(const real* table, const std::int32_t* ids, Index count, Index width, real* y);

// d_table[r, :] = the sum of dy[i, :] over all i with ids[i] == r, in the order of i, so that
// repeated ids always give the same bits; 0 for a row that no id names. d_table is (rows, width),
// each id is 0 to rows - 1.
void scatter_sum_rows(const real* dy, const std::int32_t* ids, Index count, Index width,
                      real* d_table, Index rows);

// y[o, p, i] = x[o, index[o, p, i], i]; x is (outer, length, inner), y and index (outer, picks,
// inner)
void gather(const real* x, Index outer, Index length, Index inner, const std::int32_t* index,
            Index picks, real* y);

// dx[o, index[o, p, i], i] += dy[o, p, i], in the order of p
void scatter_add(const real* dy, Index outer, Index length, Index inner, const std::int32_t* index,
                 Index picks, real* dx);

}  // namespace tapestry::kernels
