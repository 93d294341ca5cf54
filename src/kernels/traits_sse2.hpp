// SSE2: 4 floats, no fused multiply-add.
#pragma once

#include "kernels/traits_four.hpp"

namespace tapestry::kernels::simd {

template <class A>
TAPESTRY_INLINE Floats<A> multiply_add(const Floats<A>& a, const Floats<A>& b, const Floats<A>& c) {
  return xsimd::fma(a, b, c);
}
template <class A>
TAPESTRY_INLINE Floats<A> negative_multiply_add(const Floats<A>& a, const Floats<A>& b,
                                                const Floats<A>& c) {
  return xsimd::fnma(a, b, c);
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
  return Floats<A>(_mm_max_ps(a, b));
}
template <class A>
TAPESTRY_INLINE Floats<A> smaller(const Floats<A>& a, const Floats<A>& b) {
  return Floats<A>(_mm_min_ps(a, b));
}

template <class A>
TAPESTRY_INLINE void store_streamed(float* p, const Floats<A>& x) {
  _mm_stream_ps(p, x);
}
TAPESTRY_INLINE void fence_streamed() { _mm_sfence(); }

template <class A, Index distance>
TAPESTRY_INLINE Floats<A> exchanged(const Floats<A>& x) {
  return Floats<A>(_mm_shuffle_ps(x, x, distance == 2 ? 0x4E : 0xB1));
}
template <class A>
TAPESTRY_INLINE float first_lane(const Floats<A>& x) {
  return _mm_cvtss_f32(x);
}
template <class A>
TAPESTRY_INLINE Floats<A> joined(const Quad* q) {
  return Floats<A>(typename Floats<A>::register_type(q[0]));
}
template <class A>
TAPESTRY_INLINE Floats<A> interleave_low(const Floats<A>& x, const Floats<A>& y) {
  const typename Floats<A>::register_type a = x, b = y;
  return Floats<A>(__builtin_shufflevector(a, b, 0, 4, 1, 5));
}
template <class A>
TAPESTRY_INLINE Floats<A> interleave_high(const Floats<A>& x, const Floats<A>& y) {
  const typename Floats<A>::register_type a = x, b = y;
  return Floats<A>(__builtin_shufflevector(a, b, 2, 6, 3, 7));
}

template <class A>
TAPESTRY_INLINE Words<A> product(const Words<A>& a, std::uint64_t b) {
  return Words<A>(_mm_mul_epu32(a, Words<A>(b)));
}

}  // namespace tapestry::kernels::simd
