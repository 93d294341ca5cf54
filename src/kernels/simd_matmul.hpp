// Matrix products: register tiles, blocks that fit the caches, packing where it pays.
//
// After Goto and van de Geijn (2008), with one change where A is small: a few rows, read in place,
// stay in the L1 cache while panels of B stream from L2. Where A is packed, or large beside a small
// L2, a group of its rows is in L2, as they have it.
//
// Every element of C is one chain c = fma(a[p], b[p], c) over p = 0, 1, ..., k - 1, starting at 0,
// whatever tile, block or path computes it. So its bits depend neither on m, nor on the band of
// rows or columns a thread was given, nor on the sizes of blocks. The exception are products with a
// vector whose matrix lies in contiguous rows (`rows_times`), a chain per lane: those with one
// column, whatever m is, and those of one row with a transposed B. The driver does not divide
// products into such pieces.
#pragma once

#include "kernels/simd_tile.hpp"

namespace tapestry::kernels::simd {

// The layout of a call's operands, and buffers for packing.
struct Packing {
  bool a, b;
  Index group;  // tiles of rows that share a panel of B before the next one
  real *a_rows, *b_panels;
};

// c = c + bias, then y = activation(c), row by row
template <class A>
void finish_rows(Index rows, Index columns, const Epilogue& then, real* c, Index c_row) {
  for (Index i = 0; i < rows; ++i, c += c_row) {
    sweep<A>(then.bias ? columns : 0, [&](Index j, auto part) {
      store<A>(c + j, load<A>(c + j, part) + load<A>(then.bias + j, part), part);
    });
    if (then.activation) then.activation(c, then.y + i * c_row, columns);
  }
}

// The same, `rows` further down and `columns` further right.
TAPESTRY_INLINE Epilogue moved(const Epilogue& then, Index rows, Index columns, Index c_row) {
  return {then.bias ? then.bias + columns : nullptr, then.activation,
          then.y + rows * c_row + columns};
}

// The first row of tile t; null if there is none.
TAPESTRY_INLINE const real* first_row(Matrix a, const Parts& tiles, Index t) {
  return t < tiles.count ? a.at(tiles.begin(t), 0) : nullptr;
}

// c (rows, columns) += a (rows, depth) b (depth, columns), tile by tile. A group of tiles shares
// each panel of b before the next one; the first group packs it, just before it is read. `then`, if
// any, finishes the rows of a group.
template <class A, int registers>
void block(Index rows, Index columns, Index depth, Matrix a, Matrix b, const Packing& packing,
           real* c, Index c_row, bool fresh, const Epilogue* then) {
  using Size = Blocking<A, registers>;
  const Parts tiles(rows, Size::rows), panels((columns + lanes<A> - 1) / lanes<A>, Size::batches);
  Later later{nullptr, nullptr, a.row, 0, panels.count};
  const bool asks_for_a = !packing.a && a.column == 1 && Size::waits_for_a(rows, depth);
  for (Index g = 0; g < tiles.count; g += packing.group) {
    const Index next = g + packing.group, end = next < tiles.count ? next : tiles.count;
    const Index top = tiles.begin(g);
    const Index tall = (end < tiles.count ? tiles.begin(end) : rows) - top;
    Matrix left = a.from(top, 0);
    if (packing.a) {
      left = {packing.a_rows, 1, (tall + lanes<A> - 1) / lanes<A> * lanes<A>};
      pack_panel<A>({a.at(top, 0), a.column, a.row}, depth, tall, left.column, packing.a_rows);
    }
    for (Index q = 0; q < panels.count; ++q) {
      const Index j = panels.begin(q) * lanes<A>, width = panels.size(q) * lanes<A>;
      const Index wide = columns - j < width ? columns - j : width;
      later.first = q;
      const real* right = b.at(0, j);
      Index right_row = b.row;
      if (packing.b || (!loads_parts && wide < width)) {
        real* panel = packing.b_panels + j * depth;
        if (g == 0) pack_panel<A>(b.from(0, j), depth, wide, width, panel);
        right = panel, right_row = width;
      }
      for (Index t = g; t < end; ++t) {
        const Index i = tiles.begin(t);
        // The tile below, or the top of the next panel, or of the next group; after the last: any.
        const Index next_row = t + 1 < end            ? tiles.begin(t + 1)
                               : q + 1 < panels.count ? top
                                                      : top + tall;
        const Index next_column = t + 1 < end ? j : q + 1 < panels.count ? j + width : 0;
        later.c = Size::worth_asking(c + next_row * c_row + next_column, rows, columns);
        later.a = asks_for_a ? first_row(a, tiles, t + packing.group) : nullptr;
        any_tile<A, registers>(int(tiles.size(t)), wide, depth, left.from(i - top, 0), right,
                               right_row, c + i * c_row + j, c_row, fresh, later);
      }
    }
    if (then) finish_rows<A>(tall, columns, moved(*then, top, 0, c_row), c + top * c_row, c_row);
  }
}

template <class A, int registers>
void blocked(Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row,
             const Epilogue* then) {
  using Size = Blocking<A, registers>;
  Packing packing{};
  packing.a = Size::pack_a_pays(n, a.column);
  packing.b = b.column != 1 || Size::pack_b_pays(m, k, b.row);
  packing.group = packing.a || Size::long_rows(m, k) ? Size::group : 1;
  const bool few = !packing.b && Size::few_rows(m, n, k);
  const Parts depths(k, few ? Size::shallow : Size::depth);
  const Index widest = few || packing.group > 1 ? Size::broad : Size::width;
  const Parts widths((n + Size::columns - 1) / Size::columns, widest / Size::columns);
  packing.a_rows = workspace((Size::group_rows + widths.size(0) * Size::columns) * depths.size(0));
  packing.b_panels = packing.a_rows + Size::group_rows * depths.size(0);
  for (Index w = 0; w < widths.count; ++w) {
    const Index j = widths.begin(w) * Size::columns, end = j + widths.size(w) * Size::columns;
    for (Index d = 0; d < depths.count; ++d) {
      const Index p = depths.begin(d);
      const bool last = then && d + 1 == depths.count;
      const Epilogue here = last ? moved(*then, 0, j, c_row) : Epilogue{};
      block<A, registers>(m, (end < n ? end : n) - j, depths.size(d), a.from(0, p), b.from(p, j),
                          packing, c + j, c_row, d == 0, last ? &here : nullptr);
    }
  }
}

// y[i * y_step] = sum over p of a[i, p] * x[p * x_step], rows of a contiguous, at least a batch of
// them and four columns: the last column of a product, which alone in a batch costs as much as a
// full one. The lanes are rows, so that each element is one chain here, too.
template <class A>
void last_column(Index m, Index k, Matrix a, const real* x, Index x_step, real* y, Index y_step) {
  using V = Floats<A>;
  for (Index i = 0; i < m; i += lanes<A>) {
    const Index row = i + lanes<A> <= m ? i : m - lanes<A>;
    V sum(0.0f);
    V four[4];
    for (Index p = 0; p < k; p += 4) {
      const Index from = p + 4 <= k ? p : k - 4;  // the last four may overlap those before
      turn<A, true>(a.at(row, from), a.row, lanes<A>, 4, four);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        if (from + r >= p) sum = multiply_add(V(x[(from + r) * x_step]), four[r], sum);
      }
    }
    alignas(64) real lane[lanes<A>];
    sum.store_aligned(lane);
    for (Index l = 0; l < lanes<A>; ++l) y[(row + l) * y_step] = lane[l];
  }
}

// A product with a vector reads its matrix once, some rows at a time, from end to end: a few long
// streams, which a processor foresees, but not where they begin. So in the middle of a row it calls
// for the beginning of a later one. Compared with no calls a product was 0.99 to 1.18 times as fast
// where the matrix came from memory, and 0.94 to 1.03 times where it came from the L3 cache. With
// calls for each line of the later rows it took 1.02 to 1.15 times as long as with these, and 1.05
// to 1.27 times from L3 (Zen 5, 2 to 12 MB, avx2 and avx512, eight lines of each row). Two lines
// are enough: with eight a product took 1.03 times as long from L3, and 1.0 to 1.08 times from
// memory (Zen 4). A matrix in the L2 cache is read without: 288 x 288 took 1.2 to 1.3 times as long
// with calls.
constexpr int rows_at_a_time = 8;

// Beside number p of rows of k: in their middle it calls for the first two lines of the rows that
// lie `to_later` further on.
TAPESTRY_INLINE void fetch_beginnings(const real* const* row, Index to_later, Index p, Index k) {
  constexpr Index numbers = 2 * cache_line;
  const Index from = k > numbers ? (k - numbers) / 2 / cache_line * cache_line : 0;
  if (p < from || p >= from + numbers) return;
#pragma GCC unroll 8
  for (int r = 0; r < rows_at_a_time; ++r) __builtin_prefetch(row[r] + to_later + p - from);
}

// y[i * y_step] = sum over p of a[i, p] * x[p], rows of a contiguous: eight rows at a time, each a
// chain per lane
template <class A>
void rows_times(Index m, Index k, Matrix a, const real* x, real* y, Index y_step) {
  using V = Floats<A>;
  constexpr int most = rows_at_a_time;
  const bool is_far = m * k * Index(sizeof(real)) > 2 * l2_cache();
  for (Index i = 0; i < m; i += most) {
    const Index left = m - i, count = left < most ? left : most;
    const real* row[most];
    V sum[most];
#pragma GCC unroll 8
    for (int r = 0; r < most; ++r) {
      row[r] = a.at(i + (r < count ? r : 0), 0);
      sum[r] = V(0.0f);
    }
    const auto add = [&](Index p, auto part) {
      const V right = load<A>(x + p, part);
#pragma GCC unroll 8
      for (int r = 0; r < most; ++r) {
        sum[r] = multiply_add(load<A>(row[r] + p, part), right, sum[r]);
      }
    };
    Index p = 0;
    for (; p + cache_line <= k; p += cache_line) {
      if (is_far) fetch_beginnings(row, most * a.row, p, k);
#pragma GCC unroll 4
      for (Index b = 0; b < cache_line; b += lanes<A>) add(p + b, Full{});
    }
    sweep<A>(k - p, [&](Index rest, auto part) { add(p + rest, part); });
    for (int r = 0; r < count; ++r) y[(i + r) * y_step] = fold_sum<A>(sum[r]);
  }
}

// Beside number j of a row of n: at the row's end it calls for the first 512 bytes of a later one.
// Each line of it would be too many where y is read and written, too: that cost 7 %, and 12 % for a
// thread that reads a half of each row (Zen 5, rows of 4 and 11 kB).
TAPESTRY_INLINE void fetch_beginning(const real* later, Index j, Index n) {
  constexpr Index numbers = 128;
  const Index from = n > numbers ? n - numbers : 0;
  if (j >= from) __builtin_prefetch(later + j - from);
}

// y[j] += sum over `count` rows p of x[p * x_step] * b[p, j]; `fresh` starts from 0
template <class A, int count>
void add_rows(Index n, const real* x, Index x_step, Matrix b, real* y, bool fresh) {
  using V = Floats<A>;
  V left[count];
  const real* row[count];
  for (int r = 0; r < count; ++r) left[r] = V(x[r * x_step]), row[r] = b.at(r, 0);
  sweep<A>(n, [&](Index j, auto part) {
    V sum = fresh ? V(0.0f) : load<A>(y + j, part);
#pragma GCC unroll 8
    for (int r = 0; r < count; ++r) {
      fetch_beginning(row[r] + rows_at_a_time * b.row, j, n);
      sum = multiply_add(left[r], load<A>(row[r] + j, part), sum);
    }
    store<A>(y + j, sum, part);
  });
}

// y = x b, one row, rows of b contiguous. y stays in a cache; each element is one chain.
template <class A>
void row_times(Index n, Index k, const real* x, Index x_step, Matrix b, real* y) {
  constexpr int most = rows_at_a_time;
  Index p = 0;
  for (; p + most <= k; p += most) {
    add_rows<A, most>(n, x + p * x_step, x_step, b.from(p, 0), y, p == 0);
  }
  for (; p < k; ++p) add_rows<A, 1>(n, x + p * x_step, x_step, b.from(p, 0), y, p == 0);
}

// x contiguous: itself, or a copy
TAPESTRY_INLINE const real* contiguous(const real* x, Index step, Index n) {
  if (step == 1) return x;
  real* copy = workspace(n);
  for (Index i = 0; i < n; ++i) copy[i] = x[i * step];
  return copy;
}

template <class A, int registers>
void multiply(Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row,
              const Epilogue* then) {
  using Size = Blocking<A, registers>;
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (Index i = 0; i < m; ++i) {
      sweep<A>(n, [=](Index j, auto part) { store<A>(c + i * c_row + j, Floats<A>(0.0f), part); });
    }
  } else if (n == 1 && a.column == 1) {
    rows_times<A>(m, k, a, contiguous(b.data, b.row, k), c, c_row);
  } else if (m == 1 && b.row == 1 && b.column != 1) {
    rows_times<A>(n, k, {b.data, b.column, 1}, contiguous(a.data, a.column, k), c, 1);
  } else if (m == 1 && b.column == 1 && k * n > Size::depth * Size::width) {
    row_times<A>(n, k, a.data, a.column, b, c);
  } else if (Size::last_is_alone(n) && m >= lanes<A> && k >= 4 && a.column == 1) {
    blocked<A, registers>(m, n - 1, k, a, b, c, c_row, nullptr);
    last_column<A>(m, k, a, b.at(0, n - 1), b.row, c + n - 1, c_row);
  } else {
    return blocked<A, registers>(m, n, k, a, b, c, c_row, then);
  }
  if (then) finish_rows<A>(m, n, *then, c, c_row);
}

template <class A, int registers>
void matmul(Index m, Index n, Index k, const real* a, Index a_row, Index a_column, const real* b,
            Index b_row, Index b_column, real* c, Index c_row) {
  multiply<A, registers>(m, n, k, {a, a_row, a_column}, {b, b_row, b_column}, c, c_row, nullptr);
}

template <class A, int registers>
void linear(Index m, Index n, Index k, const real* a, Index a_row, Index a_column, const real* b,
            Index b_row, Index b_column, const Epilogue& then, real* c, Index c_row) {
  multiply<A, registers>(m, n, k, {a, a_row, a_column}, {b, b_row, b_column}, c, c_row, &then);
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
  t.linear = linear<A, registers>;
  t.fma_burst = fma_burst<A, registers>;
}

}  // namespace tapestry::kernels::simd
