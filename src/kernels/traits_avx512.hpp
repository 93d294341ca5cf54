// AVX-512 F, DQ, BW and VL: 16 floats, with masks for the lanes of a tail.
#pragma once

#include "kernels/coefficients.hpp"
#include "kernels/traits.hpp"

namespace tapestry::kernels::simd {

inline constexpr bool loads_parts = true;

template <class A>
TAPESTRY_INLINE Floats<A> multiply_add(const Floats<A>& a, const Floats<A>& b, const Floats<A>& c) {
  return Floats<A>(_mm512_fmadd_ps(a, b, c));
}
template <class A>
TAPESTRY_INLINE Floats<A> negative_multiply_add(const Floats<A>& a, const Floats<A>& b,
                                                const Floats<A>& c) {
  return Floats<A>(_mm512_fnmadd_ps(a, b, c));
}
template <class A>
TAPESTRY_INLINE Floats<A> quotient(const Floats<A>& a, const Floats<A>& b) {
  return a / b;
}
template <class A>
TAPESTRY_INLINE Floats<A> square_root(const Floats<A>& x) {
  return xsimd::sqrt(x);
}

template <class A>
TAPESTRY_INLINE Floats<A> larger(const Floats<A>& a, const Floats<A>& b) {
  return Floats<A>(_mm512_max_ps(a, b));
}
template <class A>
TAPESTRY_INLINE Floats<A> smaller(const Floats<A>& a, const Floats<A>& b) {
  return Floats<A>(_mm512_min_ps(a, b));
}

TAPESTRY_INLINE __mmask16 first(Tail tail) { return __mmask16((1u << tail.count) - 1); }

template <class A>
TAPESTRY_INLINE Floats<A> load(const float* p, Tail tail, float fill) {
  return Floats<A>(_mm512_mask_loadu_ps(_mm512_set1_ps(fill), first(tail), p));
}
template <class A>
TAPESTRY_INLINE void store(float* p, const Floats<A>& x, Tail tail) {
  _mm512_mask_storeu_ps(p, first(tail), x);
}
template <class A>
TAPESTRY_INLINE void store_streamed(float* p, const Floats<A>& x) {
  _mm512_stream_ps(p, x);
}
TAPESTRY_INLINE void fence_streamed() { _mm_sfence(); }

// One instruction multiplies by 2^floor(n), and another gives x - floor(x).

template <class A>
TAPESTRY_INLINE Floats<A> scaled(const Floats<A>& number, const Floats<A>&, const Floats<A>& n,
                                 const Floats<A>& x, float least) {
  using V = Floats<A>;
  const __mmask16 wanted = _mm512_cmp_ps_mask(x, V(least), _CMP_NLT_UQ);  // NaN too
  return V(_mm512_maskz_scalef_ps(wanted, number, n));
}
template <class A>
TAPESTRY_INLINE Floats<A> exp2(const Floats<A>& x) {
  using V = Floats<A>;
  const V r(_mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF));
  const __mmask16 normal = _mm512_cmp_ps_mask(x, V(-126.0f), _CMP_NLT_UQ);  // or NaN
  const V part = multiply_add(polynomial(r, coefficients::exp2_above), r, V(1.0f));
  return V(_mm512_maskz_scalef_ps(normal, part, x));
}

template <class A, Index distance>
TAPESTRY_INLINE Floats<A> exchanged(const Floats<A>& x) {
  if constexpr (distance >= 4) {
    return Floats<A>(_mm512_shuffle_f32x4(x, x, distance == 8 ? 0x4E : 0xB1));
  } else {
    return Floats<A>(_mm512_permute_ps(x, distance == 2 ? 0x4E : 0xB1));
  }
}
template <class A>
TAPESTRY_INLINE float first_lane(const Floats<A>& x) {
  return _mm512_cvtss_f32(x);
}
// Inserts from memory: of a shuffle of vectors g++ makes slower shuffles of registers.
template <class A>
TAPESTRY_INLINE Floats<A> joined(const Quad* q) {
  typename Floats<A>::register_type x = _mm512_castps128_ps512(q[0]);
  x = _mm512_insertf32x4(x, q[1], 1);
  x = _mm512_insertf32x4(x, q[2], 2);
  return Floats<A>(_mm512_insertf32x4(x, q[3], 3));
}
template <class A>
TAPESTRY_INLINE Floats<A> interleave_low(const Floats<A>& x, const Floats<A>& y) {
  const typename Floats<A>::register_type a = x, b = y;
  return Floats<A>(
      __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29));
}
template <class A>
TAPESTRY_INLINE Floats<A> interleave_high(const Floats<A>& x, const Floats<A>& y) {
  const typename Floats<A>::register_type a = x, b = y;
  return Floats<A>(
      __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31));
}

template <class A>
TAPESTRY_INLINE Words<A> product(const Words<A>& a, std::uint64_t b) {
  return Words<A>(_mm512_mul_epu32(a, Words<A>(b)));
}

}  // namespace tapestry::kernels::simd
