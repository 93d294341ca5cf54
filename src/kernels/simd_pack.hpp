// Packing for matrix products: copies of A and B in the order in which register tiles read them.
#pragma once

#include "kernels/simd.hpp"

namespace tapestry::kernels::simd {

// A matrix as the kernels see it: where it starts, and the distance of rows and of columns.
struct Matrix {
  const real* data;
  Index row, column;

  TAPESTRY_INLINE const real* at(Index i, Index j) const { return data + i * row + j * column; }
};

// The largest tile height that fits into `rows` rows: the full tile, 8, 4, 2 or 1.
template <int full>
TAPESTRY_INLINE int fitting(Index rows) {
  if (rows >= full) return full;
  if (full > 8 && rows >= 8) return 8;
  return rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

// to[p, j] = b[p, j] for a panel `width` wide, zeros beyond `columns`
template <class A>
void pack_panel(Matrix b, Index depth, Index columns, Index width, real* to) {
  if (b.column == 1) {
    for (Index p = 0; p < depth; ++p) {
      std::memcpy(to + p * width, b.at(p, 0), std::size_t(columns) * sizeof(real));
      for (Index j = columns; j < width; ++j) to[p * width + j] = 0;
    }
    return;
  }
  for (Index j = 0; j < width; ++j) {
    for (Index p = 0; p < depth; ++p) to[p * width + j] = j < columns ? *b.at(p, j) : 0;
  }
}

// Tiles of A, one after another, each column by column: what `tile` reads as `packed`.
template <class A, int full>
void pack_tiles(Matrix a, Index rows, Index depth, real* to) {
  for (Index i = 0; i < rows;) {
    const int height = fitting<full>(rows - i);
    if (a.row == 1) {  // transposed: contiguous down a column
      for (Index p = 0; p < depth; ++p) {
        for (int r = 0; r < height; ++r) to[p * height + r] = *a.at(i + r, p);
      }
    } else {
      for (int r = 0; r < height; ++r) {
        for (Index p = 0; p < depth; ++p) to[p * height + r] = *a.at(i + r, p);
      }
    }
    to += height * depth;
    i += height;
  }
}

}  // namespace tapestry::kernels::simd
