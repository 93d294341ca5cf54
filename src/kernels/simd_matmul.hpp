// Matrix products: a register tile, blocks that fit the caches, packing where it pays.
//
// The scheme is that of Goto and van de Geijn (2008): a tile of C stays in registers while a column
// panel of B and rows of A stream past it from the caches.
//
// Every element of C is one chain c = fma(a[p], b[p], c) over p = 0, 1, ..., k - 1, starting at 0,
// whatever tile, block or path computes it. So its bits depend neither on m, nor on the band of
// rows a thread was given, nor on the sizes below. The one exception is a product with a single
// column (n = 1), a chain per lane, which again does not look at m.
#pragma once

#include "kernels/simd_pack.hpp"

namespace tapestry::kernels::simd {

// All sizes, in one place. Registers: a tile of `rows` x 2 batches of C, 2 batches of B, one number
// of A repeated, and one left for a product where there is no fused multiply-add.
template <class A, int registers>
struct Blocking {
  static constexpr Index l1 = 32 * 1024, l2 = 1024 * 1024;  // bytes; common sizes of caches
  static constexpr Index number = sizeof(float);

  static constexpr int rows = (registers - 4) / 2;  // 14 for 32 registers, 6 for 16
  static constexpr Index columns = 2 * lanes<A>;
  // A panel of B (depth x columns) may be twice the first cache: tiles read it in order, so that it
  // streams from the second, and the deeper it is the less often C is read and written.
  static constexpr Index depth = 2 * l1 / (columns * number);
  // A block of A (height x depth) takes half of the second; a whole number of tiles.
  static constexpr Index height = l2 / 2 / (depth * number) / rows * rows;
  // The packed block of B (depth x width) stays within the last level's share of a core.
  static constexpr Index width = 2 * l2 / (depth * number) / columns * columns;

  // Packing costs one pass over a matrix and pays when its panels are read often enough.
  static constexpr Index rows_to_pack_b = 4 * rows;
  static constexpr Index columns_to_pack_a = 4 * columns;
};

// c (height x vectors batches) += a (height, depth) b (depth, vectors batches). b's batches are
// contiguous, its rows b_row apart. `fresh` starts from 0 without reading c.
template <class A, int height, int vectors, bool packed>
void tile(Index depth, Matrix a, const real* b, Index b_row, real* c, Index c_row, bool fresh) {
  using V = Floats<A>;
  const Index a_row = packed ? 1 : a.row, a_column = packed ? height : a.column;
  V sum[height][vectors];
#pragma GCC unroll 16
  for (int i = 0; i < height; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      sum[i][v] = V(0.0f);
      if (!fresh) sum[i][v] = V::load_unaligned(c + i * c_row + v * lanes<A>);
    }
  }
  const real* ap = a.data;
  for (Index p = 0; p < depth; ++p, ap += a_column, b += b_row) {
    V right[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) right[v] = V::load_unaligned(b + v * lanes<A>);
#pragma GCC unroll 16
    for (int i = 0; i < height; ++i) {
      const V left(ap[i * a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[i][v] = multiply_add(left, right[v], sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < height; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[i][v].store_unaligned(c + i * c_row + v * lanes<A>);
  }
}

template <class A, int full, int vectors, bool packed>
TAPESTRY_INLINE void any_tile(int height, Index depth, Matrix a, const real* b, Index b_row,
                              real* c, Index c_row, bool fresh) {
  switch (height) {
    case full:
      return tile<A, full, vectors, packed>(depth, a, b, b_row, c, c_row, fresh);
    case 8:
      return tile<A, (full < 8 ? 1 : 8), vectors, packed>(depth, a, b, b_row, c, c_row, fresh);
    case 4:
      return tile<A, 4, vectors, packed>(depth, a, b, b_row, c, c_row, fresh);
    case 2:
      return tile<A, 2, vectors, packed>(depth, a, b, b_row, c, c_row, fresh);
    default:
      return tile<A, 1, vectors, packed>(depth, a, b, b_row, c, c_row, fresh);
  }
}

// A tile at the right edge of C, `columns` wide: computed in full beside it, the valid part copied.
template <class A, int full, int vectors, bool packed>
void edge_tile(int height, Index columns, Index depth, Matrix a, const real* b, Index b_row,
               real* c, Index c_row, bool fresh) {
  constexpr Index width = vectors * lanes<A>;
  alignas(64) real whole[full * width] = {};
  for (int i = 0; i < height && !fresh; ++i) {
    std::memcpy(whole + i * width, c + i * c_row, std::size_t(columns) * sizeof(real));
  }
  any_tile<A, full, vectors, packed>(height, depth, a, b, b_row, whole, width, fresh);
  for (int i = 0; i < height; ++i) {
    std::memcpy(c + i * c_row, whole + i * width, std::size_t(columns) * sizeof(real));
  }
}

// One panel of columns of C: all tiles of `rows` rows against one panel of B.
template <class A, int full, int vectors, bool packed>
void panel(Index rows, Index columns, Index depth, Matrix a, const real* b, Index b_row, real* c,
           Index c_row, bool fresh) {
  for (Index i = 0; i < rows;) {
    const int height = fitting<full>(rows - i);
    for (Index r = i + height; r < rows && r < i + height + full; ++r) {
      const real* next = c + (r - i) * c_row;  // the tile after this one waits for C otherwise
      for (Index j = 0; j < columns; j += 16) __builtin_prefetch(next + j, 1);
    }
    if (columns == vectors * lanes<A>) {
      any_tile<A, full, vectors, packed>(height, depth, a, b, b_row, c, c_row, fresh);
    } else {
      edge_tile<A, full, vectors, packed>(height, columns, depth, a, b, b_row, c, c_row, fresh);
    }
    a.data += packed ? height * depth : height * a.row;
    c += height * c_row;
    i += height;
  }
}

// How one call reads its operands.
struct Packing {
  bool a, b;
  real *a_tiles, *b_panels;
};

// C (rows, columns) += A (rows, depth) B (depth, columns), panel by panel. B's panels have been
// packed one after another, or are read in place except for an incomplete last one.
template <class A, int full>
void block(Index rows, Index columns, Index depth, Matrix a, Matrix b, const Packing& packing,
           real* c, Index c_row, bool fresh) {
  constexpr Index width = 2 * lanes<A>;
  const auto two = packing.a ? panel<A, full, 2, true> : panel<A, full, 2, false>;
  const auto one = packing.a ? panel<A, full, 1, true> : panel<A, full, 1, false>;
  for (Index j = 0; j < columns; j += width) {
    const Index wide = columns - j < width ? columns - j : width;
    const Index padded = wide > lanes<A> ? width : lanes<A>;
    const bool in_place = !packing.b && wide == padded;
    const real* from = in_place ? b.at(0, j) : packing.b_panels + (packing.b ? j * depth : 0);
    const auto run = padded == width ? two : one;
    run(rows, wide, depth, a, from, in_place ? b.row : padded, c + j, c_row, fresh);
  }
}

// Packs what `block` will not read in place: all panels of B, or only an incomplete last one.
template <class A>
void pack_b(Matrix b, Index columns, Index depth, const Packing& packing) {
  constexpr Index width = 2 * lanes<A>;
  for (Index j = 0; j < columns; j += width) {
    const Index wide = columns - j < width ? columns - j : width;
    const Index padded = wide > lanes<A> ? width : lanes<A>;
    if (!packing.b && wide == padded) continue;
    const Matrix from{b.at(0, j), b.row, b.column};
    pack_panel<A>(from, depth, wide, padded, packing.b_panels + (packing.b ? j * depth : 0));
  }
}

// y[i] = sum over p of a[i, p] * x[p], rows of a contiguous: the product with a single column
template <class A>
void times_vector(Index m, Index k, Matrix a, const real* x, real* y, Index y_row) {
  using V = Floats<A>;
  constexpr Index n = lanes<A>;
  for (Index i = 0; i < m; ++i) {
    const real* row = a.at(i, 0);
    V s0(0.0f), s1(0.0f), s2(0.0f), s3(0.0f);
    Index p = 0;
    for (; p + 4 * n <= k; p += 4 * n) {
      s0 = multiply_add(V::load_unaligned(row + p), V::load_unaligned(x + p), s0);
      s1 = multiply_add(V::load_unaligned(row + p + n), V::load_unaligned(x + p + n), s1);
      s2 = multiply_add(V::load_unaligned(row + p + 2 * n), V::load_unaligned(x + p + 2 * n), s2);
      s3 = multiply_add(V::load_unaligned(row + p + 3 * n), V::load_unaligned(x + p + 3 * n), s3);
    }
    sweep<A>(k - p, [&](Index j, auto part) {
      s0 = multiply_add(load<A>(row + p + j, part), load<A>(x + p + j, part), s0);
    });
    y[i * y_row] = fold_sum<A>((s0 + s1) + (s2 + s3));
  }
}

// y (n) = sum over p of a[p] * b[p, :], rows of b contiguous: the product of a single row. Reads b
// once, row after row, four at a time.
template <class A>
void row_times(Index n, Index k, const real* a, Index a_column, Matrix b, real* y) {
  using V = Floats<A>;
  sweep<A>(n, [=](Index j, auto part) { store<A>(y + j, V(0.0f), part); });
  for (Index p = 0; p < k; p += 4) {
    const Index count = k - p < 4 ? k - p : 4;
    sweep<A>(n, [=](Index j, auto part) {
      V sum = load<A>(y + j, part);
      for (Index q = p; q < p + count; ++q) {
        sum = multiply_add(V(a[q * a_column]), load<A>(b.at(q, j), part), sum);
      }
      store<A>(y + j, sum, part);
    });
  }
}

template <class A, int registers>
void blocked(Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row) {
  using Size = Blocking<A, registers>;
  const Index deepest = k < Size::depth ? k : Size::depth;
  const Index tallest = m < Size::height ? m : Size::height;
  const Index widest = n < Size::width ? n : Size::width;
  Packing packing{};
  packing.a = n >= Size::columns_to_pack_a;
  packing.b = b.column != 1 || m >= Size::rows_to_pack_b;
  const Index a_size = packing.a ? tallest * deepest : 0;
  const Index b_size = (packing.b ? widest + Size::columns : Size::columns) * deepest;
  packing.a_tiles = workspace(a_size + b_size);
  packing.b_panels = packing.a_tiles + a_size;
  for (Index j = 0; j < n; j += Size::width) {
    const Index columns = n - j < Size::width ? n - j : Size::width;
    for (Index p = 0; p < k; p += Size::depth) {
      const Index depth = k - p < Size::depth ? k - p : Size::depth;
      const Matrix right{b.at(p, j), b.row, b.column};
      pack_b<A>(right, columns, depth, packing);
      for (Index i = 0; i < m; i += Size::height) {
        const Index rows = m - i < Size::height ? m - i : Size::height;
        Matrix left{a.at(i, p), a.row, a.column};
        if (packing.a) {
          pack_tiles<A, Size::rows>(left, rows, depth, packing.a_tiles);
          left.data = packing.a_tiles;
        }
        block<A, Size::rows>(rows, columns, depth, left, right, packing, c + i * c_row + j, c_row,
                             p == 0);
      }
    }
  }
}

template <class A, int registers>
void matmul(Index m, Index n, Index k, const real* a, Index a_row, Index a_column, const real* b,
            Index b_row, Index b_column, real* c, Index c_row) {
  const Matrix left{a, a_row, a_column}, right{b, b_row, b_column};
  if (k == 0) {
    for (Index i = 0; i < m; ++i) {
      sweep<A>(n, [=](Index j, auto part) { store<A>(c + i * c_row + j, Floats<A>(0.0f), part); });
    }
  } else if (n == 1 && a_column == 1) {
    const real* x = b;
    if (b_row != 1) {
      real* packed = workspace(k);
      for (Index p = 0; p < k; ++p) packed[p] = b[p * b_row];
      x = packed;
    }
    times_vector<A>(m, k, left, x, c, c_row);
  } else if (m == 1 && b_column == 1) {
    row_times<A>(n, k, a, a_column, right, c);
  } else {
    blocked<A, registers>(m, n, k, left, right, c, c_row);
  }
}

// Enough independent chains to hide the latency of a multiply-add on two units (four on NEON).
template <class A, int registers>
double fma_burst(Index rounds, real* sink) {
  using V = Floats<A>;
  constexpr int chains = registers == 32 ? 24 : 12;
  V chain[chains];
  for (int i = 0; i < chains; ++i) chain[i] = V(float(i));
  const V factor(0.5f), term(1.0f);
  for (Index r = 0; r < rounds; ++r) {
#pragma GCC unroll 24
    for (int i = 0; i < chains; ++i) chain[i] = multiply_add(chain[i], factor, term);
  }
  V total(0.0f);
  for (int i = 0; i < chains; ++i) total += chain[i];
  *sink = fold_sum<A>(total);
  return 2.0 * chains * double(lanes<A>) * double(rounds);
}

template <class A, int registers>
void fill_matmul(Table& t) {
  t.matmul = matmul<A, registers>;
  t.fma_burst = fma_burst<A, registers>;
}

}  // namespace tapestry::kernels::simd
