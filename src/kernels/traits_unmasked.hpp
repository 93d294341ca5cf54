// What sets without AVX-512's masks share: powers of two through the bits of their exponents.
#pragma once

#include "kernels/coefficients.hpp"
#include "kernels/traits.hpp"

namespace tapestry::kernels::simd {

inline constexpr bool loads_parts = false;

// 2^k for -126 <= k <= 127
template <class A>
TAPESTRY_INLINE Floats<A> power_of_two(const Ints<A>& k) {
  return from_bits<A>((k + Ints<A>(127)) << 23);
}

template <class A>
TAPESTRY_INLINE Floats<A> scaled(const Floats<A>& number, const Floats<A>& power, const Floats<A>&,
                                 const Floats<A>& x, float least) {
  using V = Floats<A>;
  const Ints<A> n = bits<A>(power) - Ints<A>(rounder_bits), half = n >> 1;  // -150 <= n <= 130
  const V part = number * power_of_two<A>(half);  // a product: added to its bits, NaN would be lost
  return xsimd::select(x < V(least), V(0.0f), part) * power_of_two<A>(n - half);
}

template <class A>
TAPESTRY_INLINE Floats<A> exp2(const Floats<A>& any) {
  using V = Floats<A>;
  const V x = larger<A>(V(-127.0f), any);  // at -127 the power below is 0; NaN stays
  const V shifted = x + V(exponent_rounder);
  const V r = x - (shifted - V(exponent_rounder));
  const V part = multiply_add(polynomial(r, coefficients::exp2), r, V(1.0f));
  return part * from_bits<A>(bits<A>(shifted) << 23);
}

}  // namespace tapestry::kernels::simd
