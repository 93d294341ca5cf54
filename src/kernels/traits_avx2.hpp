// AVX2 and FMA: 8 floats.
#pragma once

#include "kernels/traits_unmasked.hpp"

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
  return Floats<A>(_mm256_max_ps(a, b));
}
template <class A>
TAPESTRY_INLINE Floats<A> smaller(const Floats<A>& a, const Floats<A>& b) {
  return Floats<A>(_mm256_min_ps(a, b));
}

// A tail is loaded under a mask and stored in pieces. Through memcpy of a size that the compiler
// does not know, softmax of rows of 6 took four times as long (Zen 4).
template <class A>
TAPESTRY_INLINE Floats<A> load(const float* p, Tail tail, float fill) {
  alignas(32) static constexpr std::int32_t masks[] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                       0,  0,  0,  0,  0,  0,  0,  0};
  const Ints<A> mask = Ints<A>::load_unaligned(masks + 8 - tail.count);
  const Floats<A> there(_mm256_maskload_ps(p, mask));
  return Floats<A>(_mm256_blendv_ps(Floats<A>(fill), there, from_bits<A>(mask)));
}
template <class A>
TAPESTRY_INLINE void store(float* p, const Floats<A>& x, Tail tail) {
  __m128 left = _mm256_castps256_ps128(x);
  if (tail.count & 4) {
    _mm_storeu_ps(p, left);
    left = _mm256_extractf128_ps(x, 1);
    p += 4;
  }
  if (tail.count & 2) {
    _mm_storel_pi(reinterpret_cast<__m64*>(p), left);
    left = _mm_movehl_ps(left, left);
    p += 2;
  }
  if (tail.count & 1) _mm_store_ss(p, left);
}

template <class A>
TAPESTRY_INLINE void store_streamed(float* p, const Floats<A>& x) {
  _mm256_stream_ps(p, x);
}
TAPESTRY_INLINE void fence_streamed() { _mm_sfence(); }

template <class A, Index distance>
TAPESTRY_INLINE Floats<A> exchanged(const Floats<A>& x) {
  if constexpr (distance == 4) {
    return Floats<A>(_mm256_permute2f128_ps(x, x, 1));
  } else {
    return Floats<A>(_mm256_permute_ps(x, distance == 2 ? 0x4E : 0xB1));
  }
}
template <class A>
TAPESTRY_INLINE float first_lane(const Floats<A>& x) {
  return _mm256_cvtss_f32(x);
}
template <class A>
TAPESTRY_INLINE Floats<A> joined(const Quad* q) {
  using Register = typename Floats<A>::register_type;
  return Floats<A>(Register(__builtin_shufflevector(q[0], q[1], 0, 1, 2, 3, 4, 5, 6, 7)));
}
template <class A>
TAPESTRY_INLINE Floats<A> interleave_low(const Floats<A>& x, const Floats<A>& y) {
  const typename Floats<A>::register_type a = x, b = y;
  return Floats<A>(__builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13));
}
template <class A>
TAPESTRY_INLINE Floats<A> interleave_high(const Floats<A>& x, const Floats<A>& y) {
  const typename Floats<A>::register_type a = x, b = y;
  return Floats<A>(__builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15));
}

template <class A>
TAPESTRY_INLINE Words<A> product(const Words<A>& a, std::uint64_t b) {
  return Words<A>(_mm256_mul_epu32(a, Words<A>(b)));
}

}  // namespace tapestry::kernels::simd
