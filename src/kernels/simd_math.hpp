// Elementary functions on batches of floats.
//
// Each reduces its argument to a short interval (Cody and Waite 1980) and evaluates a polynomial
// there. The coefficients are weighted minimax fits, rounded to float one after another so that
// the later ones absorb the rounding of the earlier. Largest errors, measured over dense sweeps by
// tests/kernels/accuracy_test.cpp, stand above each function; ULP = distance of neighbouring
// floats at the exact result. All pass NaN on.
#pragma once

#include "kernels/simd.hpp"

namespace tapestry::kernels::simd {

// Adding this to |x| < 2^22 rounds x to an integer, which then stands in the lowest bits.
inline constexpr float rounder = 12582912.0f;  // 1.5 * 2^23
inline constexpr std::int32_t rounder_bits = 0x4B400000;

template <class A>
struct Math {
  using V = Floats<A>;
  using I = Ints<A>;

  // c[0] + x c[1] + x^2 c[2] + ... by Horner's rule
  template <int count>
  TAPESTRY_INLINE static V polynomial(V x, const float (&c)[count]) {
    V sum(c[count - 1]);
    for (int i = count - 2; i >= 0; --i) sum = multiply_add(sum, x, V(c[i]));
    return sum;
  }

  TAPESTRY_INLINE static V absolute(V x) { return from_bits<A>(bits<A>(x) & I(0x7FFFFFFF)); }

  // |magnitude| with the sign of x, for a magnitude >= 0
  TAPESTRY_INLINE static V with_sign(V magnitude, V x) {
    return from_bits<A>(bits<A>(magnitude) | (bits<A>(x) & I(sign_bit)));
  }

  // 2^k for -126 <= k <= 127
  TAPESTRY_INLINE static V power_of_two(I k) { return from_bits<A>((k + I(127)) << 23); }

  // ---- exp(x) = 2^n exp(r), |r| <= log(2) / 2

  // number * 2^n for a number in [0.7, 1.5) and a whole n, given as n + rounder; 0 where x < least.
  // A processor takes a hundred times as long for a denormal result, so none may come up on the
  // way to such a 0.
  struct Scaled {
    V number, power;

    // for any n, infinity and the denormals among the results
    TAPESTRY_INLINE V any(V x, float least) const {
#if defined(__AVX512F__)  // xsimd has no word for this multiplication
      const __mmask16 wanted = _mm512_cmp_ps_mask(x, V(least), _CMP_NLT_UQ);  // NaN too
      return V(_mm512_maskz_scalef_ps(wanted, number, power - V(rounder)));
#else
      const I n = bits<A>(power) - I(rounder_bits), half = n >> 1;  // -150 <= n <= 130
      const V part =
          number * power_of_two(half);  // a product: added to its bits, NaN would be lost
      return xsimd::select(x < V(least), V(0.0f), part) * power_of_two(n - half);
#endif
    }

    // for n <= 127, where it is above -127 unless x < least
    TAPESTRY_INLINE V normal(V x, float least) const {
#if defined(__AVX512F__)
      return any(x, least);
#else
      const V factor = from_bits<A>((bits<A>(power) << 23) + I(127 << 23));
      return xsimd::select(x < V(least), V(0.0f), number * factor);
#endif
    }
  };

  TAPESTRY_INLINE static Scaled scaled_exp(V x) {
    constexpr float log2_e = 1.44269504f;
    constexpr float ln2_high = 0.693145752f;  // 16 bits: n times it is exact
    constexpr float ln2_low = 1.42860677e-6f;
    constexpr float c[] = {0.49999994f, 0.166665226f, 0.0416682921f, 0.00836853217f,
                           0.00138182961f};
    const V power = multiply_add(x, V(log2_e), V(rounder));
    const V n = power - V(rounder);
    const V r = negative_multiply_add(n, V(ln2_low), negative_multiply_add(n, V(ln2_high), x));
    return {multiply_add(polynomial(r, c), r * r, r) + V(1.0f), power};
  }

  TAPESTRY_INLINE static V exp(V x) {
    constexpr float least = -103.97208f;  // beyond, exp(x) rounds to 0
    return scaled_exp(bounded<A>(x, -104.0f, 89.0f)).any(x, least);
  }

  // exp(x) for x <= 88, in two thirds of the time; 0 where it is below the least normal float
  TAPESTRY_INLINE static V exp_below_88(V x) { return scaled_exp(x).normal(x, -87.33f); }

  // 2^x for x <= 127; 0 below about -126, where results would be denormal and hundreds of cycles
  // late. 2^x = 2^n 2^r with n near or below x.
  TAPESTRY_INLINE static V exp2(V x) {
#if defined(__AVX512F__)  // xsimd has no words for these two: x - floor(x), and a * 2^floor(x)
    constexpr float c[] = {0.693151295f, 0.240164444f, 0.0557999127f, 0.00901703071f,
                           0.00186713005f};
    const V r(_mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF));
    const __mmask16 normal = _mm512_cmp_ps_mask(x, V(-126.0f), _CMP_NLT_UQ);  // or NaN
    return V(_mm512_maskz_scalef_ps(normal, multiply_add(polynomial(r, c), r, V(1.0f)), x));
#else
    constexpr float c[] = {0.693147242f,  0.240226522f,   0.0555031031f,
                           0.0096176928f, 0.00134066434f, 0.000155946778f};
    x = xsimd::select(x < V(-127.0f), V(-127.0f), x);  // there the power below is 0; NaN stays
    const V shifted = x + V(rounder + 127.0f);
    const V r = x - (shifted - V(rounder + 127.0f));
    return multiply_add(polynomial(r, c), r, V(1.0f)) * from_bits<A>(bits<A>(shifted) << 23);
#endif
  }

  // (log(1 + f) - 2 s) / s^3 for s = f / (2 + f), as a function of z = s^2 <= 1/9:
  // 2 atanh(s) = 2 s + s z (2/3 + 2/5 z + ...)
  TAPESTRY_INLINE static V atanh_tail(V z) {
    constexpr float c[] = {0.666666687f, 0.399997681f, 0.285799563f,
                           0.220958903f, 0.188128129f, 0.167660356f};
    return polynomial(z, c);
  }

  // x = 2^k m with m in [sqrt(1/2), sqrt 2), log(x) = k log 2 + log(m); with f = m - 1,
  // log(m) = f - f^2/2 + s (f^2/2 + z tail(z)), which keeps the leading term exact
  TAPESTRY_INLINE static V log(V x) {
    constexpr float ln2_high = 0.693138123f, ln2_low = 9.05800061e-6f;  // high: 16 bits
    constexpr float least_normal = std::numeric_limits<float>::min();
    constexpr std::int32_t root_half = 0x3F3504F3;  // sqrt(1/2)
    const auto tiny = x < V(least_normal);
    const V scaled = xsimd::select(tiny, x * V(33554432.0f), x);  // denormals times 2^25
    const I shifted = bits<A>(scaled) + I(0x3F800000 - root_half);
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

  // Below 0.7 an odd polynomial, above 1 - 2 / (exp(2|x|) + 1)
  TAPESTRY_INLINE static V tanh(V x) {
    constexpr float c[] = {-0.333333254f, 0.133330032f,    -0.0539227128f,
                           0.0215780102f, -0.00789591391f, 0.00190422707f};
    const V a = smaller<A>(V(10.0f), absolute(x)), z = a * a;  // tanh(10) rounds to 1
    const V near = multiply_add(a * z, polynomial(z, c), a);
    const V far = V(1.0f) - quotient(V(2.0f), exp_below_88(a + a) + V(1.0f));
    return with_sign(xsimd::select(a < V(0.7f), near, far), x);
  }

  // Below 1 an odd polynomial, above 1 - exp(q(|x|)) with q = log(erfc) fitted on [1, 4];
  // erf(4) rounds to 1
  TAPESTRY_INLINE static V erf(V x) {
    constexpr float c[] = {0.128379166f,   -0.376126289f,    0.112836182f,   -0.026855126f,
                           0.00519073382f, -0.000803076138f, 7.92036808e-05f};
    constexpr float q[] = {0.000188469276f, -1.12958026f,   -0.633216619f,  -0.108421728f,
                           0.0252100192f,   -0.0042051333f, 0.00044143555f, -2.16939479e-05f};
    const V a = smaller<A>(V(4.0f), absolute(x));
    const V near = multiply_add(a, polynomial(a * a, c), a);
    const V far = V(1.0f) - exp_below_88(polynomial(a, q));
    return with_sign(xsimd::select(a < V(1.0f), near, far), x);
  }

  // 1 / (1 + exp(-x)), with exp of a number <= 0 only: nothing overflows, small results stay exact
  TAPESTRY_INLINE static V sigmoid(V x) {
    const V e = exp(negative_magnitude(x));
    return quotient(xsimd::select(x < V(0.0f), e, V(1.0f)), V(1.0f) + e);
  }
  TAPESTRY_INLINE static V negative_magnitude(V x) {
    return from_bits<A>(bits<A>(x) | I(sign_bit));
  }

  TAPESTRY_INLINE static V relu(V x) { return xsimd::select(x <= V(0.0f), V(0.0f), x); }

  // exp(x) - 1 = 2 t / (1 - t) with t = tanh(x / 2), where x < 0 cancels nothing
  TAPESTRY_INLINE static V elu(V x) {
    const V t = tanh(V(0.5f) * x);
    return xsimd::select(x > V(0.0f), x, quotient(t + t, V(1.0f) - t));
  }

  // max(x, 0) + log(1 + exp(-|x|))
  TAPESTRY_INLINE static V softplus(V x) {
    return xsimd::select(x > V(0.0f), x, V(0.0f)) + log_one_plus(exp(negative_magnitude(x)));
  }

  // ---- gelu; reference.hpp has the formulas

  // x Phi(x) = max(x, 0) - a Phi(-a) for a = |x|, with Phi(-a) = 2^q(a): q = log2(Phi(-a)) is
  // fitted on [0, 6] so that a Phi(-a) is off by 3e-8 at most, and falls on from there. It stops at
  // 10, with 1e-23: further on, denormals would come up, which take a hundred times as long.
  TAPESTRY_INLINE static V gelu(V x) {
    constexpr float q[] = {-0.999996364f,   -1.15115869f,    -0.458952785f,
                           -0.0530590117f,  0.00772042619f,  -0.00056608452f,
                           -2.9671477e-05f, 9.77971922e-06f, -5.86055251e-07f};
    const V a = smaller<A>(V(10.0f), absolute(x));
    const V positive = larger<A>(V(0.0f), x);
    const V y = negative_multiply_add(a, exp2(polynomial(a, q)), positive);
    return xsimd::select(x <= V(-10.0f), V(0.0f), y);
  }

  // Phi(x) + x phi(x) is S(a) below 0 and 1 - S(a) above, where S(a) = Phi(-a) - a phi(a) =
  // exp(-a^2 / 2) r(a), with r fitted on [0, 6] so that S is off by 7e-8 at most
  TAPESTRY_INLINE static V gelu_slope(V x) {
    constexpr float r[] = {0.49999994f,     -0.797878981f,    0.249918237f,   -0.132518739f,
                           0.0611639097f,   -0.0243235901f,   0.00794572104f, -0.00197718805f,
                           0.000340359722f, -3.52903771e-05f, 1.63630057e-06f};
    constexpr float half_log2_e = 0.721347520f;
    const V a = smaller<A>(V(10.0f), absolute(x));
    const V s = exp2(V(-half_log2_e) * a * a) * polynomial(a, r);
    return xsimd::select(x < V(0.0f), s, V(1.0f) - s);
  }

  // (1 + tanh(u)) / 2 = sigmoid(2 u) with u = sqrt(2/pi) (x + 0.044715 x^3), and its derivative by
  // 2 u. That is e / (1 + e)^2 with e = exp(-2 |u|): s (1 - s) would lose digits where s is near 1.
  struct TanhShare {
    V s, slope;

    TAPESTRY_INLINE explicit TanhShare(V x) {
      const V u = V(1.59576912f) * multiply_add(V(0.044715f) * x, x * x, x);
      const V e = exp_below_88(negative_magnitude(u));
      const V most = quotient(V(1.0f), V(1.0f) + e), least = e * most;
      s = xsimd::select(u < V(0.0f), least, most);
      slope = least * most;
    }
  };

  // These two stop at -30 (the slope at 30, too): otherwise an infinite x meets a factor of 0.
  TAPESTRY_INLINE static V gelu_tanh(V x) {
    x = larger<A>(V(-30.0f), x);
    return x * TanhShare(x).s;
  }
  TAPESTRY_INLINE static V gelu_tanh_slope(V x) {
    x = bounded<A>(x, -30.0f, 30.0f);
    const TanhShare share(x);
    const V inner = V(1.59576912f) * multiply_add(V(0.134145f) * x, x, V(1.0f));
    return multiply_add(x * share.slope, inner, share.s);
  }
};

}  // namespace tapestry::kernels::simd
