// Fused attention, forward: block by block of keys, without storing the matrix of weights.
//
// Each lane holds one query while its weights are computed. Scores are computed transposed, keys
// down and queries across, S^T (keys, queries) = K Q^T, so that maxima and sums over keys stay
// within lanes. Then O (queries, value width) += P V reads the columns of P^T. So both products
// read K and V in place, and only Q is transposed, once. The running maximum and sum are those of
// Milakov & Gimelshein (2018); the blocks are those of Dao et al. (2022). All exponentials are
// powers of two: log2(e) is part of the scale of Q.
//
// The arithmetic of a query does not depend on the queries beside it, nor on how they are split.
#pragma once

#include "kernels/simd_math.hpp"
#include "kernels/simd_matmul.hpp"
#include "kernels/simd_transpose.hpp"

namespace tapestry::kernels::simd {

inline constexpr float log2_e = 1.44269504f, ln_2 = 0.693147181f;

// Sizes. A block of scores, keys by a strip of two batches of queries, stays in the first cache
// with the operands beside it, for the usual widths. A band of strips shares each block of keys and
// values, so that a long sequence is read from memory once per band.
inline constexpr Index key_block = visibility_block;
inline constexpr Index strips = 4;
template <class A>
inline constexpr Index strip = 2 * lanes<A>;

// n rounded up to whole batches
template <class A>
TAPESTRY_INLINE Index padded(Index n) {
  return (n + lanes<A> - 1) / lanes<A> * lanes<A>;
}

// Called once for each row of tiles.
TAPESTRY_INLINE void ask_ahead(const AttentionHead& h) {
  if (h.ahead != nullptr) h.ahead->ask();
}

// Whether products of so many columns take the tiles of large products, six rows and four batches
// with AVX-512, and not tall ones. They are lower, and skip more of what a causal mask hides:
// attention of 256 heads, 128 positions and width 64, forward and backward, was 1.03 times as fast
// (Zen 4). Where columns were left over for tall tiles of six rows, it was slower.
template <class A, int registers>
TAPESTRY_INLINE bool takes_wide_tiles(Index columns) {
  return columns % Blocking<A, registers>::columns == 0;
}

// How many of `rows` rows come next, in one row of tiles.
template <class A, int registers>
TAPESTRY_INLINE int tile_height(Index rows, Index columns) {
  constexpr Index low = Blocking<A, registers>::rows;
  if (takes_wide_tiles<A, registers>(columns)) return int(rows < low ? rows : low);
  return fitting<tall<registers>>(rows);
}

// One row of tiles: c (height, columns) = a b, or += a b unless fresh. `height` is as above, or one
// that is `fitting`. Columns of b and c are whole batches.
template <class A, int registers>
TAPESTRY_INLINE void product(int height, Index columns, Index depth, Matrix a, const real* b,
                             Index b_row, real* c, Index c_row, bool fresh) {
  constexpr Index wide = Blocking<A, registers>::columns, two = 2 * lanes<A>;
  constexpr int full = tall<registers>;
  Index j = 0;
  if (takes_wide_tiles<A, registers>(columns)) {
    for (; j < columns; j += wide) {
      any_tile<A, registers>(height, wide, depth, a, b + j, b_row, c + j, c_row, fresh,
                             nothing_later);
    }
    return;
  }
  for (; j + two <= columns; j += two) {
    tall_tile<A, full, 2>(height, depth, a, b + j, b_row, c + j, c_row, fresh);
  }
  if (j < columns) tall_tile<A, full, 1>(height, depth, a, b + j, b_row, c + j, c_row, fresh);
}

// What Q is multiplied by: scores then come in base 2, or, where there is a cap, as shares of it.
TAPESTRY_INLINE float query_factor(const AttentionHead& h) {
  return h.softcap > 0 ? h.scale / h.softcap : h.scale * log2_e;
}

// n scores, whole batches, from shares of the cap to base 2: s = softcap tanh(s)
template <class A>
void cap_scores(Index n, float softcap, real* s) {
  for (Index i = 0; i < n; i += lanes<A>) {
    const Floats<A> capped = Math<A>::tanh(Floats<A>::load_unaligned(s + i));
    (capped * Floats<A>(softcap * log2_e)).store_unaligned(s + i);
  }
}

// The visibility of a block of keys to a block of queries, and the parts of their scores to skip.
template <class A>
struct View {
  BlockVisibility visible;
  std::uint64_t keep[visibility_block];  // as of AttentionHead::visible_in_block

  View(const AttentionHead& h, Index query, Index queries, Index key, Index keys)
      : visible{keys, keys} {
    if (h.visible_in_block != nullptr)
      visible = h.visible_in_block(h, query, queries, key, keys, keep);
  }

  // The queries, one bit each, that see any of the keys [j, j + height).
  TAPESTRY_INLINE std::uint64_t who(Index j, Index height) const {
    if (j < visible.clear) return ~std::uint64_t(0);
    std::uint64_t any = 0;
    for (Index i = j; i < j + height; ++i) any |= keep[i];
    return any;
  }

  // How many of the first keys matter for the queries [i, i + count), fewer than 64.
  TAPESTRY_INLINE Index reach(Index i, Index count) const {
    const std::uint64_t these = ~(~std::uint64_t(0) << count);
    Index keys = visible.keys;
    while (keys > visible.clear && (keep[keys - 1] >> i & these) == 0) --keys;
    return keys;
  }

  // For the batch of queries from i on: which of them may not attend to key j >= visible.clear.
  TAPESTRY_INLINE Mask<A> hidden(Index j, Index i) const {
    alignas(64) static constexpr std::int32_t place[] = {
        1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
        1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
    const Ints<A> word(std::int32_t(std::uint32_t(keep[j] >> i) & 0xFFFFu));
    const Ints<A> bit = word & Ints<A>::load_aligned(place);
    return from_bits<A>(bit | Ints<A>(0x3F800000)) ==
           Floats<A>(1.0f);  // 1.0 without the bit, else more
  }

  // s[j, i] = -inf where query i may not attend to key j; s (keys, width)
  TAPESTRY_INLINE void hide(Index width, real* s) const {
    for (Index j = visible.clear; j < visible.keys; ++j) {
      for (Index i = 0; i < width; i += lanes<A>) {
        const Floats<A> score = Floats<A>::load_unaligned(s + j * width + i);
        xsimd::select(hidden(j, i), Floats<A>(-infinity), score).store_unaligned(s + j * width + i);
      }
    }
  }
};

// c (keys, queries) = a b where any pair is visible; a (keys, depth), b (depth, width). Where some
// queries do not see a key, tiles are low, and batches that see none of it are left out.
template <class A, int registers>
void seen_product(const AttentionHead& h, const View<A>& view, Index depth, Matrix a, const real* b,
                  Index width, real* c) {
  constexpr int full = tall<registers>, low = full > 8 ? 8 : full;
  const auto sees = [](std::uint64_t who, Index i, Index count) {
    return (who >> i & ~(~std::uint64_t(0) << count)) != 0;
  };
  for (Index j = 0; j < view.visible.keys;) {
    const Index left = view.visible.keys - j;
    const int height = j + full <= view.visible.clear ? full : fitting<low>(left);
    const std::uint64_t who = view.who(j, height);
    ask_ahead(h);
    for (Index i = 0; i < width; i += strip<A>) {
      Index first = i, end = width - i < strip<A> ? width : i + strip<A>;
      while (first < end && !sees(who, first, lanes<A>)) first += lanes<A>;
      while (first < end && !sees(who, end - lanes<A>, lanes<A>)) end -= lanes<A>;
      if (first == end) continue;
      product<A, registers>(height, end - first, depth, {a.at(j, 0), a.row, a.column}, b + first,
                            width, c + j * width + first, width, true);
    }
    j += height;
  }
}

// The running softmax of one batch of queries: sum over the keys met of 2^(score - reference).
template <class A>
struct Running {
  using V = Floats<A>;
  V reference = V(-infinity), total = V(0.0f);

  // Adds one block of scores, (keys, width) with this batch at s, and replaces them by the terms.
  // Returns the factor for earlier terms. The reference increases only when a score exceeds it by
  // 8, for a term of 2^8 is harmless, and rescaling costs a pass over the output.
  TAPESTRY_INLINE V fold(Index keys, Index width, real* s) {
    if (keys == 0) return V(1.0f);
    V top = V::load_unaligned(s), other = top;  // two chains, to hide latency
    Index j = 1;
    for (; j + 2 <= keys; j += 2) {  // a NaN that max drops appears in the sum
      top = xsimd::max(top, V::load_unaligned(s + j * width));
      other = xsimd::max(other, V::load_unaligned(s + (j + 1) * width));
    }
    if (j < keys) top = xsimd::max(top, V::load_unaligned(s + j * width));
    top = xsimd::max(top, other);
    const V before = reference;
    reference = xsimd::select(top > before + V(8.0f), top, before);
    const V shift = xsimd::select(reference == V(-infinity), V(0.0f), reference);
    const V correction = xsimd::select(before == reference, V(1.0f), Math<A>::exp2(before - shift));
    V sum = total * correction;  // in a register: g++ would store `total` after each term
    for (j = 0; j < keys; ++j, s += width) {
      const V term = Math<A>::exp2(V::load_unaligned(s) - shift);
      term.store_unaligned(s);
      sum += term;
    }
    total = sum;
    return correction;
  }

  // logsumexp of all scores so far, which were in base 2
  TAPESTRY_INLINE V log_sum() const {
    return multiply_add(reference, V(ln_2), Math<A>::log(total));
  }
};

// One strip of queries during the loop over keys.
template <class A, int registers>
struct Strip {
  using V = Floats<A>;
  Index first, count, width;  // width in lanes: whole batches
  real *q, *o;                // (h.width, width), (count, padded value width)
  Running<A> running[2];
  bool fresh = true;  // o holds nothing yet

  // Adds the keys [key, key + block), whose values are rows at v, padded to whole batches.
  void meet(const AttentionHead& h, Index key, Index block, const real* v, Index v_row, real* s) {
    const View<A> view(h, first, count, key, block);
    const Index keys = view.visible.keys;
    if (keys == 0) return;
    const Matrix k{h.k + key * h.k_row, h.k_row, 1};
    seen_product<A, registers>(h, view, h.width, k, q, width, s);
    if (h.softcap > 0) cap_scores<A>(keys * width, h.softcap, s);
    view.hide(width, s);
    alignas(64) real correction[strip<A>];
    bool same = true;
    for (Index b = 0; b < width; b += lanes<A>) {
      const Index seen = view.reach(b, lanes<A>);
      const V change = running[b / lanes<A>].fold(seen, width, s + b);
      for (Index j = seen; j < keys; ++j) V(0.0f).store_unaligned(s + j * width + b);
      change.store_aligned(correction + b);
      same = same && xsimd::all(change == V(1.0f));
    }
    const Index columns = padded<A>(h.value_width);
    if (!same && !fresh) {
      for (Index i = 0; i < count; ++i) scale_row(o + i * columns, columns, correction[i]);
    }
    for (Index i = 0; i < count;) {  // a tile of queries at a time, each as deep as it sees
      const int height = tile_height<A, registers>(count - i, columns);
      ask_ahead(h);
      product<A, registers>(height, columns, view.reach(i, height), {s + i, 1, width}, v, v_row,
                            o + i * columns, columns, fresh);
      i += height;
    }
    fresh = false;
  }

  static void scale_row(real* row, Index n, float factor) {
    sweep<A>(n, [=](Index i, auto part) {
      store<A>(row + i, load<A>(row + i, part) * V(factor), part);
    });
  }

  // Divides by the sums. Fully masked rows become zeros with a log sum of -inf. False if out
  // receives a NaN or an infinity.
  bool finish(const AttentionHead& h, real* out, Index out_row, real* log_sum) const {
    alignas(64) real inverse[strip<A>];
    alignas(64) real sums[strip<A>];
    for (Index b = 0; b < width; b += lanes<A>) {
      const Running<A>& now = running[b / lanes<A>];
      xsimd::select(now.total == V(0.0f), V(0.0f), quotient(V(1.0f), now.total))
          .store_aligned(inverse + b);
      now.log_sum().store_aligned(sums + b);
    }
    const Index columns = padded<A>(h.value_width);
    V nought(0.0f);  // times what is written
    for (Index i = 0; i < count; ++i) {
      real* row = out + (first + i) * out_row;
      const V factor(inverse[i]);
      const bool nothing = fresh || inverse[i] == 0;  // then o may hold 0 times infinity
      sweep<A>(h.value_width, [&](Index p, auto part) {
        const V mixed = nothing ? V(0.0f) : load<A>(o + i * columns + p, part) * factor;
        store<A>(row + p, mixed, part);
        nought = multiply_add(mixed, V(0.0f), nought);
      });
      log_sum[first + i] = sums[i];
    }
    return xsimd::all(nought == V(0.0f));
  }
};

// to (rows, padded width), zeros behind each row of from
template <class A>
void pad_rows(const real* from, Index from_row, Index rows, Index width, real* to) {
  for (Index i = 0; i < rows; ++i, from += from_row, to += padded<A>(width)) {
    for (Index p = 0; p < width; p += lanes<A>) {
      if (width - p >= lanes<A>) {
        Floats<A>::load_unaligned(from + p).store_unaligned(to + p);
      } else {
        load<A>(from + p, Tail{std::size_t(width - p)}).store_unaligned(to + p);
      }
    }
  }
}

// Prefetches a row that will be read out of order: hardware prefetches rows in order.
TAPESTRY_INLINE void prefetch_row(const real* row, Index width) {
  for (Index i = 0; i < width; i += 16) __builtin_prefetch(row + i);
}

// The queries [first, first + count), at most a band. False if out receives a NaN or an infinity.
template <class A, int registers>
bool attend_band(const AttentionHead& h, Index first, Index count, real* out, Index out_row,
                 real* log_sum) {
  const Index columns = padded<A>(h.value_width);
  real* s = workspace((h.width + columns) * strips * strip<A> + key_block * (strip<A> + columns));
  real* values = s + key_block * strip<A>;  // a padded block, where the rows of v are not whole
  real* next = values + key_block * columns;
  Strip<A, registers> band[strips];
  Index used = 0;
  for (Index i = 0; i < count; i += strip<A>, ++used) {
    Strip<A, registers>& now = band[used];
    now.first = first + i;
    now.count = count - i < strip<A> ? count - i : strip<A>;
    now.width = padded<A>(now.count);
    now.q = next;
    now.o = now.q + h.width * strip<A>;
    next = now.o + columns * strip<A>;
    for (Index r = 0; r < now.count; ++r) {
      prefetch_row(h.q + (now.first + r) * h.q_row, h.width);
    }
    transpose<A>(h.q + now.first * h.q_row, h.q_row, now.count, h.width, query_factor(h), now.q,
                 now.width);
  }
  for (Index key = 0; key < h.keys; key += key_block) {
    const Index block = h.keys - key < key_block ? h.keys - key : key_block;
    const real* v = h.v + key * h.v_row;
    if (columns != h.value_width) pad_rows<A>(v, h.v_row, block, h.value_width, values);
    for (Index i = 0; i < used; ++i) {
      if (columns == h.value_width) band[i].meet(h, key, block, v, h.v_row, s);
      if (columns != h.value_width) band[i].meet(h, key, block, values, columns, s);
    }
  }
  bool finite = true;
  for (Index i = 0; i < used; ++i) finite &= band[i].finish(h, out, out_row, log_sum);
  return finite;
}

template <class A, int registers>
bool attention(const AttentionHead& h, Index first, Index count, real* out, Index out_row,
               real* log_sum) {
  constexpr Index most = strips * strip<A>;
  bool finite = true;
  for (Index i = first; i < first + count; i += most) {
    const Index queries = first + count - i < most ? first + count - i : most;
    finite &= attend_band<A, registers>(h, i, queries, out, out_row, log_sum);
  }
  return finite;
}

}  // namespace tapestry::kernels::simd
