// What sets of four floats share: the one to three of an array's tail go through a buffer.
#pragma once

#include "kernels/traits_unmasked.hpp"

namespace tapestry::kernels::simd {

// A size that is known is a move; one that is not is a call of a function.
TAPESTRY_INLINE void copy_tail(float* to, const float* from, Tail tail) {
  if (tail.count == 1) std::memcpy(to, from, sizeof(float));
  if (tail.count == 2) std::memcpy(to, from, 2 * sizeof(float));
  if (tail.count == 3) std::memcpy(to, from, 3 * sizeof(float));
}

template <class A>
TAPESTRY_INLINE Floats<A> load(const float* p, Tail tail, float fill) {
  alignas(16) float buffer[4];
  Floats<A>(fill).store_aligned(buffer);
  copy_tail(buffer, p, tail);
  return Floats<A>::load_aligned(buffer);
}

template <class A>
TAPESTRY_INLINE void store(float* p, const Floats<A>& x, Tail tail) {
  alignas(16) float buffer[4];
  x.store_aligned(buffer);
  copy_tail(p, buffer, tail);
}

}  // namespace tapestry::kernels::simd
