// Packing for matrix products: copies of A and B in the order in which register tiles read them.
#pragma once

#include "kernels/simd_transpose.hpp"

namespace tapestry::kernels::simd {

// A matrix for kernels: its start, and the strides of rows and columns.
struct Matrix {
  const real* data;
  Index row, column;

  TAPESTRY_INLINE const real* at(Index i, Index j) const { return data + i * row + j * column; }
  TAPESTRY_INLINE Matrix from(Index i, Index j) const { return {at(i, j), row, column}; }
};

// Divides `total` items into the fewest parts of at most `most`, whose sizes differ by one at most.
struct Parts {
  Index count, least, longer;  // the first `longer` parts have one more than `least`

  TAPESTRY_INLINE Parts(Index total, Index most)
      : count((total + most - 1) / most), least(total / count), longer(total % count) {}
  TAPESTRY_INLINE Index size(Index part) const { return least + (part < longer ? 1 : 0); }
  TAPESTRY_INLINE Index begin(Index part) const {
    return part * least + (part < longer ? part : longer);
  }
};

// to[p * width + j] = b[p, j] for `columns` columns, then zeros up to `width`, a whole number of
// batches
template <class A>
void pack_panel(Matrix b, Index depth, Index columns, Index width, real* to) {
  if (b.column == 1) {
    for (Index p = 0; p < depth; ++p) {
      sweep<A>(columns, [&](Index j, auto part) {
        load<A>(b.at(p, j), part).store_unaligned(to + p * width + j);
      });
    }
    return;
  }
  if (b.column == 0) {  // each row is one number, repeated: the gradient of a sum, say
    for (Index p = 0; p < depth; ++p) {
      const Floats<A> number(*b.at(p, 0));
      sweep<A>(columns, [&](Index j, auto part) { store<A>(to + p * width + j, number, part); });
    }
  } else if (b.row == 1 && depth >= 4 && columns >= lanes<A>) {
    // The last batch of columns, and the last four rows, may overlap those before.
    for (Index j = 0; j < columns; j += lanes<A>) {
      const Index l = j + lanes<A> <= columns ? j : columns - lanes<A>;
      for (Index p = 0; p < depth; p += 4) {
        const Index q = p + 4 <= depth ? p : depth - 4;
        Floats<A> four[4];
        turn<A, true>(b.at(q, l), b.column, lanes<A>, 4, four);
#pragma GCC unroll 4
        for (int r = 0; r < 4; ++r) four[r].store_unaligned(to + (q + r) * width + l);
      }
    }
  } else {
    for (Index j = 0; j < columns; ++j) {
      for (Index p = 0; p < depth; ++p) to[p * width + j] = *b.at(p, j);
    }
  }
  for (Index row = 0; row < depth; ++row) {
    for (Index j = columns; j < width; ++j) to[row * width + j] = 0;
  }
}

}  // namespace tapestry::kernels::simd
