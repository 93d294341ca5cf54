// NEON on AArch64: 4 floats.
#pragma once

#include "kernels/traits_four.hpp"

namespace tapestry::kernels::simd {

template <class A>
TAPESTRY_INLINE Floats<A> multiply_add(const Floats<A>& a, const Floats<A>& b, const Floats<A>& c) {
  return Floats<A>(vfmaq_f32(c, a, b));
}
template <class A>
TAPESTRY_INLINE Floats<A> negative_multiply_add(const Floats<A>& a, const Floats<A>& b,
                                                const Floats<A>& c) {
  return Floats<A>(vfmsq_f32(c, a, b));
}
template <class A>
TAPESTRY_INLINE Floats<A> quotient(const Floats<A>& a, const Floats<A>& b) {
  return Floats<A>(vdivq_f32(a, b));
}
template <class A>
TAPESTRY_INLINE Floats<A> square_root(const Floats<A>& x) {
  return Floats<A>(vsqrtq_f32(x));
}

template <class A>
TAPESTRY_INLINE Floats<A> larger(const Floats<A>& a, const Floats<A>& b) {
  return xsimd::max(a, b);
}
template <class A>
TAPESTRY_INLINE Floats<A> smaller(const Floats<A>& a, const Floats<A>& b) {
  return xsimd::min(a, b);
}

template <class A>
TAPESTRY_INLINE void store_streamed(float* p, const Floats<A>& x) {  // it has no such store
  x.store_aligned(p);
}
TAPESTRY_INLINE void fence_streamed() {}

template <class A, Index distance>
TAPESTRY_INLINE Floats<A> exchanged(const Floats<A>& x) {
  return distance == 2 ? Floats<A>(vextq_f32(x, x, 2)) : Floats<A>(vrev64q_f32(x));
}
template <class A>
TAPESTRY_INLINE float first_lane(const Floats<A>& x) {
  return vgetq_lane_f32(x, 0);
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
  return Words<A>(vmull_n_u32(vmovn_u64(a), std::uint32_t(b)));
}

}  // namespace tapestry::kernels::simd
