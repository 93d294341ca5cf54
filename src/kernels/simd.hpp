// What the SIMD kernels are made of: batches of floats (traits.hpp), and loops over arrays of any
// length. Only files compiled for one instruction set include this header.
#pragma once

#include "kernels/traits.hpp"

namespace tapestry::kernels::simd {

inline constexpr Index cache_line = 16;  // numbers in its 64 bytes

// -x with its sign bit flipped, so that -(0) is -0 everywhere
template <class A>
TAPESTRY_INLINE Floats<A> negative(const Floats<A>& x) {
  return from_bits<A>(bits<A>(x) ^ Ints<A>(sign_bit));
}

// ---- A loop over n numbers, a full batch at a time, then the tail

// For a loop's body that is long or stands in several places: g++ would call it for each batch.
#define TAPESTRY_BODY __attribute__((always_inline))

template <class A, class Body>
TAPESTRY_INLINE void sweep(Index n, Body body) {
  Index i = 0;
  for (; i + lanes<A> <= n; i += lanes<A>) body(i, Full{});
  if (i < n) body(i, Tail{std::size_t(n - i)});
}

template <class A>
TAPESTRY_INLINE Floats<A> load(const float* p, Full, float = {}) {
  return Floats<A>::load_unaligned(p);
}

template <class A>
TAPESTRY_INLINE void store(float* p, const Floats<A>& x, Full) {
  x.store_unaligned(p);
}

// ---- NaN-preserving selections. xsimd's != is false for NaN on some sets, so only == is used.

template <class A>
TAPESTRY_INLINE Floats<A> maximum(const Floats<A>& a, const Floats<A>& b) {
  return xsimd::select(a == a, larger<A>(a, b), a);
}

template <class A>
TAPESTRY_INLINE Floats<A> minimum(const Floats<A>& a, const Floats<A>& b) {
  return xsimd::select(a == a, smaller<A>(a, b), a);
}

// x clamped to low and high; NaN stays
template <class A>
TAPESTRY_INLINE Floats<A> bounded(const Floats<A>& x, float low, float high) {
  return smaller<A>(Floats<A>(high), larger<A>(Floats<A>(low), x));
}

// ---- Reductions of all lanes of a batch, by halving: a fixed order

// f over all lanes, in every lane
template <class A, Index distance = lanes<A> / 2, class F>
TAPESTRY_INLINE Floats<A> spread(Floats<A> x, F f) {
  x = f(x, exchanged<A, distance>(x));
  if constexpr (distance > 1) x = spread<A, distance / 2>(x, f);
  return x;
}

template <class A>
TAPESTRY_INLINE Floats<A> spread_sum(const Floats<A>& x) {
  return spread<A>(x, [](const Floats<A>& a, const Floats<A>& b) { return a + b; });
}

template <class A>
TAPESTRY_INLINE float fold_sum(const Floats<A>& x) {
  return first_lane<A>(spread_sum<A>(x));
}

template <class A>
TAPESTRY_INLINE float fold_max(const Floats<A>& x) {
  return first_lane<A>(spread<A>(x, [](const auto& a, const auto& b) { return maximum<A>(a, b); }));
}

template <class A>
TAPESTRY_INLINE float fold_min(const Floats<A>& x) {
  return first_lane<A>(spread<A>(x, [](const auto& a, const auto& b) { return minimum<A>(a, b); }));
}

}  // namespace tapestry::kernels::simd
