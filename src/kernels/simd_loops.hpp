// Loops over arrays besides `sweep`: several accumulators at once, and outputs that bypass the
// caches.
#pragma once

#include <cstdint>

#include "kernels/simd.hpp"

namespace tapestry::kernels::simd {

// ---- Accumulators. One alone would wait for each addition to finish, so four take turns.

// Calls body(i, part, k) as `sweep` does, with k = 0, 1, 2, 3 in turn for full batches, in groups
// of four; the tail goes to chain 0. k is a constant: an array it numbers stays in registers.
template <class A, class Whole = Full, class Body>
TAPESTRY_INLINE void sweep_chains(Index n, Body body) {
  using std::integral_constant;
  constexpr Index step = 4 * lanes<A>;
  Index i = 0;
  for (; i + step <= n; i += step) {
    body(i, Whole{}, integral_constant<int, 0>{});
    body(i + lanes<A>, Whole{}, integral_constant<int, 1>{});
    body(i + 2 * lanes<A>, Whole{}, integral_constant<int, 2>{});
    body(i + 3 * lanes<A>, Whole{}, integral_constant<int, 3>{});
  }
  for (; i + lanes<A> <= n; i += lanes<A>) body(i, Whole{}, integral_constant<int, 0>{});
  if (i < n) body(i, Tail{std::size_t(n - i)}, integral_constant<int, 0>{});
}

template <class A>
struct Chains {
  Floats<A> at[4];

  explicit Chains(float start) : at{start, start, start, start} {}

  template <class F>
  TAPESTRY_INLINE Floats<A> together(F f) const {
    return f(f(at[0], at[1]), f(at[2], at[3]));
  }
  TAPESTRY_INLINE Floats<A> sum() const {  // over all lanes, in every lane
    return spread_sum<A>((at[0] + at[1]) + (at[2] + at[3]));
  }
};

template <class A>
TAPESTRY_INLINE void fill_with(real* y, Index n, float value) {
  sweep<A>(n, [=](Index i, auto part) { store<A>(y + i, Floats<A>(value), part); });
}

// ---- Prefetching. A first sweep over a row waits for memory and a later one for
// arithmetic; the later one prefetches the next row, so that both overlap.

// The distance from row r's element to that of row r + 1, but at least the memory latency.
TAPESTRY_INLINE Index fetch_distance(Index n) { return n < 1024 ? 1024 : n; }

TAPESTRY_INLINE void fetch(const float* p) { __builtin_prefetch(p, 0, 2); }

// Prefetches what lies 4 KB after p into the first cache, in a loop that reads or writes at p.
TAPESTRY_INLINE void fetch_near(const float* p) { __builtin_prefetch(p + 1024); }

// ---- Outputs that bypass the caches. A line that is written in full need not be read from memory
// first, and one that will not stay in the caches should not evict others.

struct Stream {};  // a full batch, at an address that is a multiple of its size

// The same for an array that stays in the caches.
TAPESTRY_INLINE Full kept(Stream) { return {}; }
TAPESTRY_INLINE Full kept(Full) { return {}; }
TAPESTRY_INLINE Tail kept(Tail part) { return part; }

// From this many numbers on, 4 MB: more than the L2 cache of today's cores.
inline constexpr Index stream_from = 1 << 20;

// Rows up to this length do so only as whole, aligned batches.
inline constexpr Index longest_short_row = 4096;

template <class A>
TAPESTRY_INLINE Floats<A> load(const float* p, Stream, float = {}) {
  return Floats<A>::load_unaligned(p);
}

template <class A>
TAPESTRY_INLINE void store(float* p, const Floats<A>& x, Stream) {
  store_streamed(p, x);
}

// Whether every row is whole batches, and begins at a multiple of a batch's size.
template <class A>
TAPESTRY_INLINE bool aligned_rows(const real* y, Index n) {
  return n % lanes<A> == 0 && reinterpret_cast<std::uintptr_t>(y) % sizeof(Floats<A>) == 0;
}

// Whether an output of n numbers bypasses the caches. Not when it replaces an input, which is in
// them.
template <class... Inputs>
TAPESTRY_INLINE bool streams_whole(const real* y, Index n, Inputs... inputs) {
  return n >= stream_from && (... && (y != inputs));
}

// The same for rows of n. Short ones have to be whole, aligned batches. Otherwise both kinds of
// stores write one line, which goes to memory in pieces (rows of 10 took 2 to 10 times as long, by
// the set, on Emerald Rapids).
template <class A>
TAPESTRY_INLINE bool streams(const real* y, const real* x, Index rows, Index n) {
  return streams_whole(y, rows * n, x) && (n > longest_short_row || aligned_rows<A>(y, n));
}

// Makes streamed numbers visible to other threads before what follows: once, at the end.
TAPESTRY_INLINE void finish_stream(bool stream) {
  if (stream) fence_streamed();
}

// As `sweep`, for a body that writes y[i], the same function for each i: bypassing the caches if
// told to, with batches that begin where y's alignment wants it. If so, n must be at least a batch.
template <class A, class Body>
TAPESTRY_INLINE void sweep_out(const float* y, Index n, bool stream, Body body) {
  if (!stream) return sweep<A>(n, body);
  const auto past = Index(reinterpret_cast<std::uintptr_t>(y) / sizeof(float)) % lanes<A>;
  Index i = past == 0 ? 0 : lanes<A> - past;
  if (i > 0) body(0, Tail{std::size_t(i)});
  for (; i + lanes<A> <= n; i += lanes<A>) body(i, Stream{});
  if (i < n) body(i, Tail{std::size_t(n - i)});
}

}  // namespace tapestry::kernels::simd
