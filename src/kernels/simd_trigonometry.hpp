// Sine and cosine on batches of floats.
#pragma once

#include <cmath>

#include "kernels/simd_math.hpp"

namespace tapestry::kernels::simd {

template <class A>
struct Trigonometry : Math<A> {
  using V = Floats<A>;
  using I = Ints<A>;
  using M = Math<A>;

  // Above this the products below stop being exact; such numbers use the slow path.
  static constexpr float largest = 10000.0f;

  // x - n pi/2 as a sum high + low, |high| <= pi/4. pi/2 comes in five parts, the first four of 11
  // bits, so that n times each is exact and the zeros nearest to a float keep all their digits.
  TAPESTRY_INLINE static void reduce(V x, V n, V& high, V& low) {
    const V two = x - n * V(1.5703125f) - n * V(4.83751297e-4f);
    const V third = n * V(7.54953362e-8f);
    const V three = two - third;
    const V lost = (two - three) - third;
    const V rest = lost - n * V(2.56328292e-12f) - n * V(6.12323426e-17f);
    high = three + rest;
    low = (three - high) + rest;
  }

  // sin(x + quadrant * pi/2)
  TAPESTRY_INLINE static V wave(V x, std::int32_t quadrant) {
    const V shifted = multiply_add(x, V(0.636619772f), V(rounder));
    V high, low;
    reduce(x, shifted - V(rounder), high, low);
    const V z = high * high;
    const V sine = high + multiply_add(high * z, M::polynomial(z, coefficients::sin), low);
    const V higher = multiply_add(z * z, M::polynomial(z, coefficients::cos), V(0.0f) - high * low);
    const V cosine = V(1.0f) - (V(0.5f) * z - higher);
    const I turn = bits<A>(shifted) + I(quadrant);
    const V odd = from_bits<A>((turn & I(1)) << 30);  // 2 or 0
    const V value = xsimd::select(odd > V(1.0f), cosine, sine);
    return from_bits<A>(bits<A>(value) ^ ((turn & I(2)) << 30));
  }

  // As `wave`, with numbers beyond `largest` through the C library in double, one by one.
  template <class Slow>
  TAPESTRY_INLINE static V any(V x, std::int32_t quadrant, Slow slow) {
    const V y = wave(x, quadrant);
    const V a = M::absolute(x);
    if (!xsimd::any(a > V(largest))) return y;
    alignas(64) float in[lanes<A>];
    alignas(64) float out[lanes<A>];
    x.store_aligned(in);
    y.store_aligned(out);
    for (Index i = 0; i < lanes<A>; ++i) {
      if (in[i] > largest || in[i] < -largest) out[i] = float(slow(double(in[i])));
    }
    return V::load_aligned(out);
  }

  // Both 1.00 ULP, 0.50 beyond `largest`
  static V sin(V x) {
    const V y = any(x, 0, [](double v) { return ::sin(v); });
    return xsimd::select(x == V(0.0f), x, y);  // sin(-0) is -0; the sums above make it +0
  }
  static V cos(V x) {
    return any(x, 1, [](double v) { return ::cos(v); });
  }
};

}  // namespace tapestry::kernels::simd
