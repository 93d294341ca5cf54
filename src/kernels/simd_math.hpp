// Elementary functions on batches of floats, and what functions.hpp makes its own of.
//
// Each reduces its argument to a short interval (Cody and Waite 1980) and evaluates a polynomial
// there, whose coefficients stand in coefficients.hpp. Above each function that an entry of the
// table is: its largest error on sse2, avx2 and avx512 over a dense sweep of floats, as the tests
// print it with "[.ulp]"; what it claims in functions_elementary.hpp is checked by every run of the
// tests. ULP = distance of neighbouring floats at the exact result. All pass NaN on.
#pragma once

#include <cmath>

#include "kernels/coefficients.hpp"
#include "kernels/simd.hpp"

namespace tapestry::kernels::simd {

template <class A>
struct Math {
  using V = Floats<A>;
  using I = Ints<A>;

  // ---- What simd.hpp and the set have, for functions that are written for any set

  TAPESTRY_INLINE static V select(const Mask<A>& which, V a, V b) {
    return xsimd::select(which, a, b);
  }
  TAPESTRY_INLINE static V multiply_add(V a, V b, V c) { return simd::multiply_add(a, b, c); }
  TAPESTRY_INLINE static V negative_multiply_add(V a, V b, V c) {
    return simd::negative_multiply_add(a, b, c);
  }
  TAPESTRY_INLINE static V quotient(V a, V b) { return simd::quotient(a, b); }
  TAPESTRY_INLINE static V square_root(V x) { return simd::square_root(x); }
  TAPESTRY_INLINE static V negative(V x) { return simd::negative(x); }
  TAPESTRY_INLINE static V larger(V a, V b) { return simd::larger(a, b); }
  TAPESTRY_INLINE static V smaller(V a, V b) { return simd::smaller(a, b); }
  TAPESTRY_INLINE static V maximum(V a, V b) { return simd::maximum(a, b); }
  TAPESTRY_INLINE static V minimum(V a, V b) { return simd::minimum(a, b); }
  TAPESTRY_INLINE static V bounded(V x, float low, float high) {
    return simd::bounded(x, low, high);
  }
  template <int count>
  TAPESTRY_INLINE static V polynomial(V x, const float (&c)[count]) {
    return simd::polynomial(x, c);
  }
  template <int count>
  TAPESTRY_INLINE static V polynomial_even_odd(V x, const float (&c)[count]) {
    return simd::polynomial_even_odd(x, c);
  }
  // 2^x for x <= 127; 0 where results would be denormal
  TAPESTRY_INLINE static V exp2(V x) { return simd::exp2(x); }

  TAPESTRY_INLINE static V absolute(V x) { return from_bits<A>(bits<A>(x) & I(0x7FFFFFFF)); }
  TAPESTRY_INLINE static V negative_magnitude(V x) {
    return from_bits<A>(bits<A>(x) | I(sign_bit));
  }
  // |magnitude| with the sign of x, for a magnitude >= 0
  TAPESTRY_INLINE static V with_sign(V magnitude, V x) {
    return from_bits<A>(bits<A>(magnitude) | (bits<A>(x) & I(sign_bit)));
  }

  // The nearest whole number, of two the even one: adding 2^23 leaves a float no fraction.
  TAPESTRY_INLINE static V rounded(V x) {
    const V a = absolute(x), whole = (a + V(8388608.0f)) - V(8388608.0f);
    return xsimd::select(a < V(8388608.0f), with_sign(whole, x), x);  // NaN stays
  }

  // ---- exp(x) = 2^n exp(r), |r| <= log(2) / 2

  struct Scaled {
    V above, power, n;  // (1 + above) * 2^n; power is n + to_whole
  };

  TAPESTRY_INLINE static Scaled scaled_exp(V x, float to_whole) {
    constexpr float log2_e = 1.44269504f;
    constexpr float ln2_high = 0.693145752f;  // 16 bits: n times it is exact
    constexpr float ln2_low = 1.42860677e-6f;
    const V power = multiply_add(x, V(log2_e), V(to_whole));
    const V n = power - V(to_whole);
    const V r = negative_multiply_add(n, V(ln2_low), negative_multiply_add(n, V(ln2_high), x));
    return {multiply_add(polynomial(r, coefficients::exp), r * r, r), power, n};
  }

  // 0.98 ULP
  TAPESTRY_INLINE static V exp(V x) {
    const Scaled e = scaled_exp(bounded(x, -104.0f, 89.0f), rounder);
    return scaled(V(1.0f) + e.above, e.power, e.n, x, -103.97208f);  // below, exp(x) rounds to 0
  }

  // exp(x) for x <= 88, in two thirds of the time; 0 where it is below 0.71 of the least normal
  // float: at -88, where x stops, n is -127 and the power 0. NaN stays. But for denormals, scaling
  // by a power of two is exact: this rounds as (1 + above) * power does.
  TAPESTRY_INLINE static V exp_below_88(V x) {
    const Scaled e = scaled_exp(larger(V(-88.0f), x), exponent_rounder);
    const V power = from_bits<A>(bits<A>(e.power) << 23);
    return multiply_add(e.above, power, power);
  }

  // (log(1 + f) - 2 s) / s^3 for s = f / (2 + f), as a function of z = s^2 <= 1/9:
  // 2 atanh(s) = 2 s + s z (2/3 + 2/5 z + ...)
  TAPESTRY_INLINE static V atanh_tail(V z) { return polynomial(z, coefficients::atanh_tail); }

  // x = 2^k m with m in [sqrt(1/2), sqrt 2), log(x) = k log 2 + log(m); with f = m - 1,
  // log(m) = f - f^2/2 + s (f^2/2 + z tail(z)), which keeps the leading term exact. 0.78 ULP
  TAPESTRY_INLINE static V log(V x) {
    constexpr float ln2_high = 0.693138123f, ln2_low = 9.05800061e-6f;  // high: 16 bits
    constexpr float least_normal = std::numeric_limits<float>::min();
    constexpr std::int32_t root_half = 0x3F3504F3;  // sqrt(1/2)
    const auto tiny = x < V(least_normal);
    const V all = xsimd::select(tiny, x * V(33554432.0f), x);  // denormals times 2^25
    const I shifted = bits<A>(all) + I(0x3F800000 - root_half);
    const V exponent = from_bits<A>((shifted >> 23) + I(rounder_bits - 127)) - V(rounder);
    const V k = xsimd::select(tiny, exponent - V(25.0f), exponent);
    const V f = from_bits<A>((shifted & I(0x007FFFFF)) + I(root_half)) - V(1.0f);
    const V s = quotient(f, V(2.0f) + f), z = s * s, half_square = V(0.5f) * f * f;
    const V tail = multiply_add(s, multiply_add(z, atanh_tail(z), half_square), k * V(ln2_low));
    V y = multiply_add(k, V(ln2_high), f - (half_square - tail));
    y = xsimd::select(x < V(infinity), y, x);  // inf and NaN
    y = xsimd::select(x == V(0.0f), V(-infinity), y);
    return xsimd::select(x < V(0.0f), V(std::numeric_limits<float>::quiet_NaN()), y);
  }

  // log(1 + e) for 0 <= e <= 1, without losing a small e
  TAPESTRY_INLINE static V log_one_plus(V e) {
    const V s = quotient(e, V(2.0f) + e), z = s * s;
    return multiply_add(s * z, atanh_tail(z), s + s);
  }

  // Below 0.7 an odd polynomial, above 1 - 2 / (exp(2|x|) + 1). 1.04 ULP
  TAPESTRY_INLINE static V tanh(V x) {
    const V a = smaller(V(10.0f), absolute(x)), z = a * a;  // tanh(10) rounds to 1
    const V near = multiply_add(a * z, polynomial(z, coefficients::tanh), a);
    const V far = V(1.0f) - quotient(V(2.0f), exp_below_88(a + a) + V(1.0f));
    return with_sign(xsimd::select(a < V(0.7f), near, far), x);
  }

  // Below 1 an odd polynomial, above 1 - exp(q(|x|)) with q = log(erfc); erf(4) rounds to 1.
  // 0.93 ULP, 1.34 on sse2
  TAPESTRY_INLINE static V erf(V x) {
    const V a = smaller(V(4.0f), absolute(x));
    const V near = multiply_add(a, polynomial(a * a, coefficients::erf), a);
    const V far = V(1.0f) - exp_below_88(polynomial(a, coefficients::log_erfc));
    return with_sign(xsimd::select(a < V(1.0f), near, far), x);
  }

  // 1 / (1 + exp(-x)), with exp of a number <= 0 only: nothing overflows, small results stay exact.
  // 2.06 ULP
  TAPESTRY_INLINE static V sigmoid(V x) {
    const V e = exp(negative_magnitude(x));
    return quotient(xsimd::select(x < V(0.0f), e, V(1.0f)), V(1.0f) + e);
  }
};

}  // namespace tapestry::kernels::simd
