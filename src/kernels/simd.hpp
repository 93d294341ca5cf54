// What the SIMD kernels are made of: batches of floats, and loops over arrays of any length.
//
// Every template here takes the instruction set as a tag type that its source file declares in an
// anonymous namespace. Whatever is instantiated with such a tag, xsimd's own templates included,
// is local to that file: the linker cannot pick its AVX code for the rest of the program. (NEON,
// which every AArch64 has, needs no such care.) tools/check_symbols looks at the result.
// Only files compiled for one instruction set include this header.
#pragma once

#include <cstring>
#include <limits>
#include <xsimd/xsimd.hpp>

#include "kernels/sets.hpp"

#define TAPESTRY_INLINE [[gnu::always_inline]] inline

namespace tapestry::kernels::simd {

template <class A>
using Floats = xsimd::batch<float, A>;
template <class A>
using Ints = xsimd::batch<std::int32_t, A>;
template <class A>
using Mask = xsimd::batch_bool<float, A>;

template <class A>
inline constexpr Index lanes = Index(Floats<A>::size);

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr std::int32_t sign_bit = std::numeric_limits<std::int32_t>::min();

// ---- Bits: xsimd changed the spelling of this cast after version 8

template <class A>
TAPESTRY_INLINE Ints<A> bits(const Floats<A>& x) {
#if XSIMD_VERSION_MAJOR < 9
  return xsimd::bitwise_cast<Ints<A>>(x);
#else
  return xsimd::bitwise_cast<std::int32_t>(x);
#endif
}

template <class A>
TAPESTRY_INLINE Floats<A> from_bits(const Ints<A>& x) {
#if XSIMD_VERSION_MAJOR < 9
  return xsimd::bitwise_cast<Floats<A>>(x);
#else
  return xsimd::bitwise_cast<float>(x);
#endif
}

// ---- Arithmetic that xsimd leaves unfused or approximate on one set or another: version 8 never
// fuses on AVX-512; versions 8 to 13 divide and take roots on NEON by refined estimates only.

// a * b + c, rounded once where the instruction set can
template <class A>
TAPESTRY_INLINE Floats<A> multiply_add(const Floats<A>& a, const Floats<A>& b, const Floats<A>& c) {
#if defined(__AVX512F__)
  return Floats<A>(_mm512_fmadd_ps(a, b, c));
#elif defined(__aarch64__)
  return Floats<A>(vfmaq_f32(c, a, b));
#else
  return xsimd::fma(a, b, c);
#endif
}

// c - a * b, likewise
template <class A>
TAPESTRY_INLINE Floats<A> negative_multiply_add(const Floats<A>& a, const Floats<A>& b,
                                                const Floats<A>& c) {
#if defined(__AVX512F__)
  return Floats<A>(_mm512_fnmadd_ps(a, b, c));
#elif defined(__aarch64__)
  return Floats<A>(vfmsq_f32(c, a, b));
#else
  return xsimd::fnma(a, b, c);
#endif
}

template <class A>
TAPESTRY_INLINE Floats<A> quotient(const Floats<A>& a, const Floats<A>& b) {
#if defined(__aarch64__)
  return Floats<A>(vdivq_f32(a, b));
#else
  return a / b;
#endif
}

template <class A>
TAPESTRY_INLINE Floats<A> square_root(const Floats<A>& x) {
#if defined(__aarch64__)
  return Floats<A>(vsqrtq_f32(x));
#else
  return xsimd::sqrt(x);
#endif
}

// -x with its sign bit turned, so that -(0) is -0 everywhere
template <class A>
TAPESTRY_INLINE Floats<A> negative(const Floats<A>& x) {
  return from_bits<A>(bits<A>(x) ^ Ints<A>(sign_bit));
}

// ---- A loop over n numbers, a full batch at a time, then what is left

struct Full {};
struct Tail {
  std::size_t count;  // 1 to lanes - 1
};

template <class A, class Body>
TAPESTRY_INLINE void sweep(Index n, Body body) {
  Index i = 0;
  for (; i + lanes<A> <= n; i += lanes<A>) body(i, Full{});
  if (i < n) body(i, Tail{std::size_t(n - i)});
}

#if defined(__AVX512F__)
// AVX-512 has masks for the lanes of a tail; the others go through a buffer.
TAPESTRY_INLINE __mmask16 first(Tail tail) { return __mmask16((1u << tail.count) - 1); }
#endif

template <class A>
TAPESTRY_INLINE Floats<A> load(const float* p, Full, float = 0) {
  return Floats<A>::load_unaligned(p);
}

// The lanes beyond the array hold `fill`. The tail goes through the same arithmetic as everything
// else, so a number's bits do not depend on its place.
template <class A>
TAPESTRY_INLINE Floats<A> load(const float* p, Tail tail, float fill = 0) {
#if defined(__AVX512F__)
  return Floats<A>(_mm512_mask_loadu_ps(_mm512_set1_ps(fill), first(tail), p));
#else
  alignas(64) float buffer[lanes<A>];
  Floats<A>(fill).store_aligned(buffer);
  std::memcpy(buffer, p, tail.count * sizeof(float));
  return Floats<A>::load_aligned(buffer);
#endif
}

template <class A>
TAPESTRY_INLINE void store(float* p, const Floats<A>& x, Full) {
  x.store_unaligned(p);
}

template <class A>
TAPESTRY_INLINE void store(float* p, const Floats<A>& x, Tail tail) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, first(tail), x);
#else
  alignas(64) float buffer[lanes<A>];
  x.store_aligned(buffer);
  std::memcpy(p, buffer, tail.count * sizeof(float));
#endif
}

// ---- The larger and the smaller of two in one instruction: b where either is NaN (NEON: NaN).
// xsimd's own drop a NaN on a side that differs between its versions.

template <class A>
TAPESTRY_INLINE Floats<A> larger(const Floats<A>& a, const Floats<A>& b) {
#if defined(__AVX512F__)
  return Floats<A>(_mm512_max_ps(a, b));
#elif defined(__AVX__)
  return Floats<A>(_mm256_max_ps(a, b));
#elif defined(__SSE2__)
  return Floats<A>(_mm_max_ps(a, b));
#else
  return xsimd::max(a, b);
#endif
}

template <class A>
TAPESTRY_INLINE Floats<A> smaller(const Floats<A>& a, const Floats<A>& b) {
#if defined(__AVX512F__)
  return Floats<A>(_mm512_min_ps(a, b));
#elif defined(__AVX__)
  return Floats<A>(_mm256_min_ps(a, b));
#elif defined(__SSE2__)
  return Floats<A>(_mm_min_ps(a, b));
#else
  return xsimd::min(a, b);
#endif
}

// ---- NaN-keeping choices. xsimd's != is false for NaN on some sets, so that only == is asked.

template <class A>
TAPESTRY_INLINE Floats<A> maximum(const Floats<A>& a, const Floats<A>& b) {
  return xsimd::select(a == a, larger<A>(a, b), a);
}

template <class A>
TAPESTRY_INLINE Floats<A> minimum(const Floats<A>& a, const Floats<A>& b) {
  return xsimd::select(a == a, smaller<A>(a, b), a);
}

// x held between low and high; NaN stays
template <class A>
TAPESTRY_INLINE Floats<A> bounded(const Floats<A>& x, float low, float high) {
  return smaller<A>(Floats<A>(high), larger<A>(Floats<A>(low), x));
}

// ---- All lanes of a batch brought together, halving it each time: a fixed order

// The lanes that stand `distance` apart, a power of two, exchanged. xsimd's shuffles differ between
// versions; through memory it takes five times as long.
template <class A, Index distance>
TAPESTRY_INLINE Floats<A> exchanged(const Floats<A>& x) {
#if defined(__AVX512F__)
  if constexpr (distance >= 4) {
    return Floats<A>(_mm512_shuffle_f32x4(x, x, distance == 8 ? 0x4E : 0xB1));
  } else {
    return Floats<A>(_mm512_permute_ps(x, distance == 2 ? 0x4E : 0xB1));
  }
#elif defined(__AVX__)
  if constexpr (distance == 4) {
    return Floats<A>(_mm256_permute2f128_ps(x, x, 1));
  } else {
    return Floats<A>(_mm256_permute_ps(x, distance == 2 ? 0x4E : 0xB1));
  }
#elif defined(__SSE2__)
  return Floats<A>(_mm_shuffle_ps(x, x, distance == 2 ? 0x4E : 0xB1));
#else
  return distance == 2 ? Floats<A>(vextq_f32(x, x, 2)) : Floats<A>(vrev64q_f32(x));
#endif
}

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
TAPESTRY_INLINE float first_lane(const Floats<A>& x) {
#if defined(__AVX512F__)
  return _mm512_cvtss_f32(x);
#elif defined(__AVX__)
  return _mm256_cvtss_f32(x);
#elif defined(__SSE2__)
  return _mm_cvtss_f32(x);
#else
  return vgetq_lane_f32(x, 0);
#endif
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
