// Fused attention, backward (Dao 2023, algorithm 2): the weights of a block are recomputed from the
// logsumexp of each row, used, and discarded. Layout and sizes as in simd_attention.hpp: one query
// in each lane, scores transposed. With P the weights, per block of keys and queries:
//
//   S^T = K Q^T     P^T = 2^(S^T - log sum)     dV += P^T dO     dP^T = V dO^T
//   dS^T = P^T (dP^T - delta), delta = row sums of dO O         dK += dS^T Q     dQ += dS K
//
// Q and dO are transposed once per call; all else is read in place.
#pragma once

#include <bit>

#include "kernels/simd_attention.hpp"

namespace tapestry::kernels::simd {

// Queries of one block: two strips, so that the products over queries (dV, dK) are deep enough.
template <class A>
inline constexpr Index query_block =
    2 * strip<A> < visibility_block ? 2 * strip<A> : visibility_block;

// x (rows, n), n a multiple of the lanes. Rows without gaps are cleared faster by one memset (1.1
// times, Zen 5).
template <class A>
void clear_rows(real* x, Index x_row, Index rows, Index n) {
  if (x_row == n) {
    std::memset(x, 0, std::size_t(rows * n) * sizeof(real));
    return;
  }
  for (Index i = 0; i < rows; ++i, x += x_row) {
    for (Index p = 0; p < n; p += lanes<A>) Floats<A>(0.0f).store_unaligned(x + p);
  }
}

// One block of queries, prepared for all blocks of keys. Blocks lie one after another in memory.
template <class A>
struct QueryBlock {
  Index first, count, width;  // width in lanes: whole batches
  real *q, *d_out;            // (h.width, width), (h.value_width, width)
  real* d_q;                  // (count, padded width): null, the result's rows, or a padded copy
  Index d_q_row;
  real *log_sum, *delta;      // (width): in base 2, +inf where fully masked; times the scale
  real *q_copy, *d_out_copy;  // padded to whole batches, where the rows in place are not
  const real *q_rows, *d_out_rows;
  Index q_row, d_out_row;

  // Numbers of a row's padded copy: none where rows are whole batches.
  static Index copied(Index n) { return padded<A>(n) == n ? 0 : padded<A>(n); }

  static Index floats(const AttentionHead& h) {
    const Index copies = copied(h.width) + copied(h.value_width);
    return query_block<A> * (h.width + h.value_width + 2 + copies + copied(h.width));
  }

  QueryBlock(const AttentionHead& h, const real* gradient, Index gradient_row, Index number,
             real* memory, const AttentionGradients& to)
      : first(number * query_block<A>) {
    constexpr Index most = query_block<A>;
    count = h.queries - first < most ? h.queries - first : most;
    width = padded<A>(count);
    q = memory + number * floats(h);
    d_out = q + h.width * most;
    log_sum = d_out + h.value_width * most;
    delta = log_sum + most;
    q_copy = delta + most;
    d_out_copy = q_copy + copied(h.width) * most;
    d_q = d_out_copy + copied(h.value_width) * most;
    d_q_row = padded<A>(h.width);
    if (to.q == nullptr) d_q = nullptr;
    const bool whole = padded<A>(h.width) == h.width;
    const bool value_whole = padded<A>(h.value_width) == h.value_width;
    if (whole && to.q != nullptr) {
      d_q = to.q + first * to.q_row;
      d_q_row = to.q_row;
    }
    q_rows = whole ? h.q + first * h.q_row : q_copy;
    q_row = whole ? h.q_row : padded<A>(h.width);
    d_out_rows = value_whole ? gradient + first * gradient_row : d_out_copy;
    d_out_row = value_whole ? gradient_row : padded<A>(h.value_width);
  }

  void prepare(const AttentionHead& h, const real* out, Index out_row, const real* gradient,
               Index gradient_row, const real* log_sums) const {
    const real *from_q = h.q + first * h.q_row, *from_d = gradient + first * gradient_row;
    if (q_rows == q_copy) pad_rows<A>(from_q, h.q_row, count, h.width, q_copy);
    if (d_out_rows == d_out_copy)
      pad_rows<A>(from_d, gradient_row, count, h.value_width, d_out_copy);
    if (d_q != nullptr) clear_rows<A>(d_q, d_q_row, count, padded<A>(h.width));
    for (Index i = 0; i < width; ++i) {
      const bool seen = i < count && log_sums[first + i] != -infinity;
      log_sum[i] = seen ? log_sums[first + i] * log2_e : infinity;
      delta[i] = 0;
    }
    for (Index i = 0; i < count; ++i) {
      prefetch_row(from_q + i * h.q_row, h.width);
      if (out_row == -1) {
        delta[i] = out[first + i] * h.scale;
        continue;
      }
      Floats<A> sum(0.0f);
      const real *row = out + (first + i) * out_row, *d_row = from_d + i * gradient_row;
      sweep<A>(h.value_width, [&](Index p, auto part) {
        sum = multiply_add(load<A>(row + p, part), load<A>(d_row + p, part), sum);
      });
      delta[i] = fold_sum<A>(sum) * h.scale;
    }
    transpose<A>(from_q, h.q_row, count, h.width, query_factor(h), q, width);
    transpose<A>(from_d, gradient_row, count, h.value_width, h.scale, d_out, width);
  }
};

// Adds the bits of a NaN to `seen` if one of x (rows, n) is NaN or infinite, else those of 0: a sum
// would wait for the one before. n is a multiple of the lanes.
template <class A>
void watch(const real* x, Index x_row, Index rows, Index n, Floats<A>& seen) {
  if (x_row == n) n *= rows, rows = 1;
  for (Index i = 0; i < rows; ++i, x += x_row) {
    for (Index p = 0; p < n; p += lanes<A>) {
      const auto number = Floats<A>::load_unaligned(x + p);
      seen = seen | (number - number);
    }
  }
}

// Memory of one block of keys against one block of queries.
struct KeyScratch {
  real *s, *d_p;    // (key_block, query_block): S^T, then P^T; dP^T, then dS^T
  real *d_k, *d_v;  // (key_block, padded width), (key_block, padded value width); null: not wanted
  Index d_k_row, d_v_row;
  const real* k_rows;  // (keys, padded width): K itself, or a padded copy
  Index k_row;
};

// P^T and dS^T from S^T and dP^T, in place. dP is scaled already, and so is delta. With a cap, S^T
// holds shares of it: tanh makes them scores, and its slope is part of dS^T.
template <class A, bool capped>
void weigh(const View<A>& view, const QueryBlock<A>& b, float softcap, real* s, real* d_p) {
  using V = Floats<A>;
  for (Index j = 0; j < view.visible.keys; ++j, s += b.width, d_p += b.width) {
    for (Index i = 0; i < b.width; i += lanes<A>) {
      V score = V::load_unaligned(s + i), slope{};
      if constexpr (capped) {
        const V share = Math<A>::tanh(score);
        slope = V(1.0f) - share * share;
        score = share * V(softcap * log2_e);
      }
      V p = Math<A>::exp2(score - V::load_unaligned(b.log_sum + i));
      V d_s = p * (V::load_unaligned(d_p + i) - V::load_unaligned(b.delta + i));
      if constexpr (capped) d_s *= slope;
      if (j >= view.visible.clear) {
        const Mask<A> hidden = view.hidden(j, i);
        p = xsimd::select(hidden, V(0.0f), p);
        d_s = xsimd::select(hidden, V(0.0f), d_s);
      }
      p.store_unaligned(s + i);
      d_s.store_unaligned(d_p + i);
    }
  }
}

// c (keys, columns) += a b over the queries that see; a (keys, width), b (queries, columns).
template <class A, int registers>
void add_over_queries(const AttentionHead& h, const View<A>& view, Index queries, const real* a,
                      Index width, const real* b, Index b_row, Index columns, real* c,
                      Index c_row) {
  for (Index j = 0; j < view.visible.keys;) {
    const int height = tile_height<A, registers>(view.visible.keys - j, columns);
    const std::uint64_t who = view.who(j, height);
    ask_ahead(h);
    const Index first = who == 0 ? queries : std::countr_zero(who);
    const Index last = 64 - std::countl_zero(who), end = last < queries ? last : queries;
    if (first < end) {
      product<A, registers>(height, columns, end - first, {a + j * width + first, width, 1},
                            b + first * b_row, b_row, c + j * c_row, c_row, false);
    }
    j += height;
  }
}

// One block of keys with one block of queries.
template <class A, int registers>
void meet_back(const AttentionHead& h, Index key, Index block, const QueryBlock<A>& b,
               const KeyScratch& to) {
  const View<A> view(h, b.first, b.count, key, block);
  if (view.visible.keys == 0) return;
  const Matrix k{h.k + key * h.k_row, h.k_row, 1}, v{h.v + key * h.v_row, h.v_row, 1};
  seen_product<A, registers>(h, view, h.width, k, b.q, b.width, to.s);
  seen_product<A, registers>(h, view, h.value_width, v, b.d_out, b.width, to.d_p);
  if (h.softcap > 0) {
    weigh<A, true>(view, b, h.softcap, to.s, to.d_p);
  } else {
    weigh<A, false>(view, b, h.softcap, to.s, to.d_p);
  }
  if (to.d_k != nullptr) {
    add_over_queries<A, registers>(h, view, b.count, to.s, b.width, b.d_out_rows, b.d_out_row,
                                   padded<A>(h.value_width), to.d_v, to.d_v_row);
    add_over_queries<A, registers>(h, view, b.count, to.d_p, b.width, b.q_rows, b.q_row,
                                   padded<A>(h.width), to.d_k, to.d_k_row);
  }
  if (b.d_q == nullptr) return;
  const Index columns = padded<A>(h.width);
  for (Index i = 0; i < b.count;) {  // a tile of queries at a time, each as deep as it sees
    const int height = tile_height<A, registers>(b.count - i, columns);
    ask_ahead(h);
    product<A, registers>(height, columns, view.reach(i, height), {to.d_p + i, 1, b.width},
                          to.k_rows, to.k_row, b.d_q + i * b.d_q_row, b.d_q_row, false);
    i += height;
  }
}

// to (rows, n) from rows that are padded; nothing to do where `to` itself was written
template <class A>
void unpad_rows(const real* from, Index rows, Index n, real* to, Index to_row) {
  if (from == to) return;
  for (Index i = 0; i < rows; ++i, from += padded<A>(n), to += to_row) {
    std::memcpy(to, from, std::size_t(n) * sizeof(real));
  }
}

template <class A, int registers>
bool attention_backward(const AttentionHead& h, const real* out, Index out_row, const real* d_out,
                        Index d_out_row, const real* log_sum, Index first, Index count,
                        const AttentionGradients& to) {
  using Queries = QueryBlock<A>;
  constexpr Index side = query_block<A>;
  const Index columns = padded<A>(h.width), value_columns = padded<A>(h.value_width);
  const bool whole = columns == h.width, value_whole = value_columns == h.value_width;
  const Index blocks = (h.queries + side - 1) / side;
  real* memory =
      workspace(blocks * Queries::floats(h) + key_block * (2 * side + 2 * columns + value_columns));
  real* s = memory + blocks * Queries::floats(h);
  real *d_p = s + key_block * side, *sum_k = d_p + key_block * side;
  real *sum_v = sum_k + key_block * columns, *k_copy = sum_v + key_block * value_columns;
  for (Index i = 0; i < blocks; ++i) {
    Queries(h, d_out, d_out_row, i, memory, to).prepare(h, out, out_row, d_out, d_out_row, log_sum);
  }
  Floats<A> seen(0.0f);
  for (Index key = first; key < first + count; key += key_block) {
    const Index block = first + count - key < key_block ? first + count - key : key_block;
    const real* k = h.k + key * h.k_row;
    KeyScratch scratch{s, d_p, {}, {}, {}, {}, whole ? k : k_copy, whole ? h.k_row : columns};
    if (!whole) pad_rows<A>(k, h.k_row, block, h.width, k_copy);
    const Index at = key - first;
    if (to.k != nullptr) {
      scratch.d_k = whole ? to.k + at * to.k_row : sum_k;
      scratch.d_k_row = whole ? to.k_row : columns;
      scratch.d_v = value_whole ? to.v + at * to.v_row : sum_v;
      scratch.d_v_row = value_whole ? to.v_row : value_columns;
      clear_rows<A>(scratch.d_k, scratch.d_k_row, block, columns);
      clear_rows<A>(scratch.d_v, scratch.d_v_row, block, value_columns);
    }
    for (Index i = 0; i < blocks; ++i) {
      const Queries queries(h, d_out, d_out_row, i, memory, to);
      meet_back<A, registers>(h, key, block, queries, scratch);
    }
    if (to.k == nullptr) continue;
    watch<A>(scratch.d_k, scratch.d_k_row, block, columns, seen);
    watch<A>(scratch.d_v, scratch.d_v_row, block, value_columns, seen);
    unpad_rows<A>(scratch.d_k, block, h.width, to.k + at * to.k_row, to.k_row);
    unpad_rows<A>(scratch.d_v, block, h.value_width, to.v + at * to.v_row, to.v_row);
  }
  for (Index i = 0; to.q != nullptr && i < blocks; ++i) {
    const Queries queries(h, d_out, d_out_row, i, memory, to);
    watch<A>(queries.d_q, queries.d_q_row, queries.count, columns, seen);
    unpad_rows<A>(queries.d_q, queries.count, h.width, to.q + queries.first * to.q_row, to.q_row);
  }
  return fold_sum<A>(seen) == 0;
}

}  // namespace tapestry::kernels::simd
