// The register tile of matrix products: a few rows and a few batches of C, kept in registers during
// the loop over columns of A and rows of B.
#pragma once

#include <type_traits>
#include <utility>

#include "kernels/simd_pack.hpp"

namespace tapestry::kernels::simd {

// All sizes of matrix products, in one place. Registers: a tile of C, `rows` x `batches`, one row
// of it of B, and two for a number of A repeated and for a product where none is fused.
template <class A, int registers>
struct Blocking {
  static constexpr Index l2 = 1024 * 1024, number = sizeof(real);  // bytes; a common L2 cache

  static constexpr int rows = 6, batches = registers == 32 ? 4 : 2;
  static constexpr Index columns = batches * lanes<A>;  // of a panel of B
  // A tile's rows of A (12 KB) stay in the L1 cache beside the streaming panel. The deeper, the
  // less often C is read and written.
  static constexpr Index depth = 512;
  // A block of B (depth x width) takes half of the L2 cache. More left no room for A and C: with
  // all of it 512 x 512 x 4096 was a fifth slower on Zen 5, whose L2 has 1 MB.
  static constexpr Index width = l2 / 2 / (depth * number) / columns * columns;
  // Few rows wait for B's memory: they read a shallow, broad block of it in place, row after row.
  // Groups of tiles (below) take a broad one, too.
  static constexpr Index shallow = 32, broad = 4 * width;

  // Packing is one more pass over an operand. It pays for a transposed B always, for any other when
  // enough rows read it: fewer if its own rows lie `far` apart, or if it is `deep`: its panels then
  // lie on many pages (rows times their distance), most of all where a panel is one line wide. With
  // four lines (AVX-512) that is deeper: 96 to 512 rows that were packed from 2^17 numbers on were
  // 1.02 to 1.1 times as fast without it, at depths of 512 to 1024 (Zen 5).
  static constexpr Index far = 768, rows_to_pack_far = 8 * rows, rows_to_pack_near = 1024;
  static constexpr Index line = 64, deep = columns * number > line ? 1 << 20 : 1 << 17;
  static constexpr Index rows_to_pack_deep = (columns * number > line ? 16 : 8) * rows;
  // For a transposed A when enough columns read it, fewer the further its own columns lie apart
  // (`reach` is the product): in place each line serves a few rows only. From 128 columns on, not
  // 256, a training step of that width was 1.03 times as fast with AVX-512 and equal with AVX2
  // (Zen 4).
  static constexpr Index columns_to_pack_a = 128, reach_to_pack_a = 1 << 15;
  // A group of tiles, up to 192 KB of A, stays in L2 while B comes from memory, panel by panel:
  // where A was packed, so that each row is packed once for many columns, and where A is too large
  // to be read again from L2 for each block of B. The latter with a small L2 only: 1.02 times as
  // fast on Zen 4 (1 MB), but 0.88 to 0.98 times on Emerald Rapids (2 MB).
  static constexpr Index group = 16, group_rows = group * rows;
  static bool long_rows(Index m, Index k) {
    return m * (k < depth ? k : depth) * number >= 2 * l2 && l2_cache() <= l2;
  }
  // A tile prefetches the next one's part of C if its block of C has more than `large` numbers:
  // 1.02 to 1.04 times as fast from 1024 x 1024 x 1024 on (Emerald Rapids). Smaller products became
  // 1 % slower, and with 16 registers all 5 %: none is left for the address. Else nullptr.
  static constexpr Index large = 1 << 15;
  static constexpr const real* worth_asking(const real* part, Index m, Index n) {
    return lanes<A> == cache_line && m * n > large ? part : nullptr;
  }

  // A tile prefetches a later one's rows of A if they are short and more than an L1 cache has:
  // where A was in no cache, 1.1 to 1.28 times as fast, else up to 4 % slower. Rows of 512 lost 2
  // to 4 % where they were in a cache (Zen 5).
  static constexpr Index short_row = 128, in_l1 = 32 * 1024 / number;
  static constexpr bool waits_for_a(Index m, Index depth) {
    return depth <= short_row && m * depth >= in_l1;
  }

  // Whether it pays to pack A, whose columns lie a_column apart, and B, with rows b_row apart.
  static constexpr bool pack_a_pays(Index n, Index a_column) {
    return a_column != 1 && (n >= columns_to_pack_a || n * a_column >= reach_to_pack_a);
  }
  static constexpr bool pack_b_pays(Index m, Index k, Index b_row) {
    return m >= (b_row > far         ? rows_to_pack_far
                 : k * b_row >= deep ? rows_to_pack_deep
                                     : rows_to_pack_near);
  }
  // Whether B, which is not packed, is more than a block that few rows read.
  static constexpr bool few_rows(Index m, Index n, Index k) {
    return m < rows_to_pack_far && k * n > depth * width;
  }
  // Whether one column is left over, which alone in a batch would cost as much as a full one.
  static constexpr bool last_is_alone(Index n) { return n > lanes<A> && n % lanes<A> == 1; }
};

// From here on the compiler takes p for any pointer, whose value it has not yet seen. Otherwise it
// keeps more addresses than there are registers, and reads them from memory in the innermost loop.
template <class T>
TAPESTRY_INLINE void hide_from_compiler(T*& p) {
  asm("" : "+r"(p));
}

// What a tile asks for while it computes: the part of C of the next one, where that pays (else
// null), and some rows of A of a later one: `first`, `first` + `step`, ... The tiles of all panels
// together ask for each of its rows.
struct Later {
  const real* c;
  const real* a;  // the first of its rows, of contiguous numbers; null: none
  Index a_row, first, step;

  TAPESTRY_INLINE void ask_for_c(int row, Index c_row, int lines) const {
    for (int l = 0; l < lines; ++l) __builtin_prefetch(c + row * c_row + l * cache_line);
  }
  TAPESTRY_INLINE void ask_for_a(int turn, int rows, Index depth) const {
    const Index row = first + turn * step;
    if (a == nullptr || row >= rows) return;
    for (Index p = 0; p < depth; p += cache_line) __builtin_prefetch(a + row * a_row + p);
  }
  TAPESTRY_INLINE void ask_for_all_of_a(int rows, Index depth) const {
    for (int turn = 0; a != nullptr && turn < rows; ++turn) ask_for_a(turn, rows, depth);
  }
};
constexpr Later nothing_later{};  // not inline: sets of kernels share no symbols

// c (height x vectors batches) += a (height, depth) b (depth, vectors batches). b's batches are
// contiguous, its rows b_row apart. `fresh` starts from 0 without reading c. Only `part` of the
// last batch of each row belongs to c; b must be readable there in full unless `loads_parts`.
// (a is no Matrix here: g++ passes one by memory, written and read by pieces of different sizes,
// which then waits for every store of the tile before.)
// `ahead`: it asks for what is later, a row of c and of a before each stretch of the loop.
template <class A, int height, int vectors, bool fresh, bool ahead, class Part>
void tile(Index depth, const real* a, Index a_row, Index a_column, const real* b, Index b_row,
          real* c, Index c_row, Part part, const Later& later) {
  using V = Floats<A>;
  constexpr int last = vectors - 1;
  V sum[height][vectors];
#pragma GCC unroll 16
  for (int i = 0; i < height; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[i][v] = V(0.0f);
    if (fresh) continue;
#pragma GCC unroll 4
    for (int v = 0; v < last; ++v) sum[i][v] = V::load_unaligned(c + i * c_row + v * lanes<A>);
    sum[i][last] = load<A>(c + i * c_row + last * lanes<A>, part);
  }
  // Two starts, seven rows apart: with one, the distances of 14 rows do not fit the registers.
  constexpr int near = height < 7 ? height : 7;
  const real* far = a + near * a_row;
  hide_from_compiler(far);
  constexpr int stretches = ahead ? height : 1;
  Index p = 0;
  for (int s = 0; s < stretches; ++s) {
    if constexpr (ahead) {
      later.ask_for_c(s, c_row, vectors);
      later.ask_for_a(s, height, depth);
    }
    const Index end = depth * (s + 1) / stretches;
    for (; p < end; ++p, a += a_column, far += a_column, b += b_row) {
      V right[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < last; ++v) right[v] = V::load_unaligned(b + v * lanes<A>);
      if constexpr (loads_parts) {
        right[last] = load<A>(b + last * lanes<A>, part);
      } else {
        right[last] = V::load_unaligned(b + last * lanes<A>);
      }
#pragma GCC unroll 16
      for (int i = 0; i < height; ++i) {
        const V left(i < near ? a[i * a_row] : far[(i - near) * a_row]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[i][v] = multiply_add(left, right[v], sum[i][v]);
      }
    }
  }
  hide_from_compiler(c);
#pragma GCC unroll 16
  for (int i = 0; i < height; ++i, c += c_row) {
#pragma GCC unroll 4
    for (int v = 0; v < last; ++v) sum[i][v].store_unaligned(c + v * lanes<A>);
    store<A>(c + last * lanes<A>, sum[i][last], part);
  }
}

// The tiles of a set in a list: by height, batches in a row, whether c is read, and whether the
// last batch is a part of one.
template <class A, int registers>
struct Tiles {
  using Size = Blocking<A, registers>;
  using Run = void (*)(Index, const real*, Index, Index, const real*, Index, real*, Index, Tail);
  struct List {
    Run run[4 * Size::rows * Size::batches];
  };

  template <int height, int vectors, bool fresh, bool whole>
  static void run(Index depth, const real* a, Index a_row, Index a_column, const real* b,
                  Index b_row, real* c, Index c_row, Tail tail) {
    const std::conditional_t<whole, Full, Tail> part{[&] {
      if constexpr (whole)
        return Full{};
      else
        return tail;
    }()};
    tile<A, height, vectors, fresh, false>(depth, a, a_row, a_column, b, b_row, c, c_row, part,
                                           nothing_later);
  }
  static constexpr int place(int height, int vectors, bool fresh, bool whole) {
    return 4 * (Size::batches * (height - 1) + vectors - 1) + 2 * fresh + whole;
  }
  template <int... i>
  static constexpr List all(std::integer_sequence<int, i...>) {
    return {{run < i / 4 / Size::batches + 1, i / 4 % Size::batches + 1, i / 2 % 2 == 1,
             i % 2 == 1 > ...}};
  }
  static constexpr List list =
      all(std::make_integer_sequence<int, 4 * Size::rows * Size::batches>{});
};

// The largest of the heights full, 8, 4, 2 and 1 that fits into `rows` rows.
template <int full>
TAPESTRY_INLINE int fitting(Index rows) {
  if (rows >= full) return full;
  if (full > 8 && rows >= 8) return 8;
  return rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

// For products that are one or two batches wide: taller tiles compensate.
template <int registers>
inline constexpr int tall = (registers - 4) / 2;  // 14 for 32 registers, 6 for 16

// A tile of a `fitting` height and whole batches.
template <class A, int full, int vectors>
TAPESTRY_INLINE void tall_tile(int height, Index depth, Matrix a, const real* b, Index b_row,
                               real* c, Index c_row, bool fresh) {
  const auto run = [&](auto rows) {
    constexpr int h = decltype(rows)::value;
    const auto go =
        fresh ? tile<A, h, vectors, true, false, Full> : tile<A, h, vectors, false, false, Full>;
    go(depth, a.data, a.row, a.column, b, b_row, c, c_row, Full{}, nothing_later);
  };
  switch (height) {
    case full:
      return run(std::integral_constant<int, full>{});
    case 8:
      return run(std::integral_constant<int, (full < 8 ? 1 : 8)>{});
    case 4:
      return run(std::integral_constant<int, 4>{});
    case 2:
      return run(std::integral_constant<int, 2>{});
    default:
      return run(std::integral_constant<int, 1>{});
  }
}

// A tile of 1 to Blocking::rows rows and 1 to Blocking::columns columns.
template <class A, int registers>
TAPESTRY_INLINE void any_tile(int height, Index columns, Index depth, Matrix a, const real* b,
                              Index b_row, real* c, Index c_row, bool fresh, const Later& later) {
  using All = Tiles<A, registers>;
  using Size = Blocking<A, registers>;
  if (later.c && height == Size::rows && columns == Size::columns) {
    const auto go = fresh ? tile<A, Size::rows, Size::batches, true, true, Full>
                          : tile<A, Size::rows, Size::batches, false, true, Full>;
    return go(depth, a.data, a.row, a.column, b, b_row, c, c_row, Full{}, later);
  }
  later.ask_for_all_of_a(Size::rows, depth);
  const int vectors = int((columns + lanes<A> - 1) / lanes<A>);
  const Index rest = columns % lanes<A>;
  All::list.run[All::place(height, vectors, fresh, rest == 0)](
      depth, a.data, a.row, a.column, b, b_row, c, c_row, Tail{std::size_t(rest)});
}

}  // namespace tapestry::kernels::simd
