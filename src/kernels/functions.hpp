// Activations, and the list of all functions of one number (function_list.hpp tells what a function
// is).
#pragma once

#include <algorithm>

#include "kernels/coefficients.hpp"
#include "kernels/functions_elementary.hpp"
#include "kernels/functions_exact.hpp"

namespace tapestry::kernels {

struct Elu {  // with alpha = 1
  static constexpr const char* name = "elu";
  static constexpr Claim claim{-104, 20, 2.4};
  static constexpr bool saves_output = true;
  static constexpr double slope_error = 1e-7;
  static double plain(double x) { return x > 0 ? x : std::expm1(x); }
  static double plain_backward(double dy, double y) { return y > 0 ? dy : dy * (y + 1); }
  // exp(x) - 1 = 2 t / (1 - t) with t = tanh(x / 2), where x < 0 cancels nothing. 2.26 ULP
  template <class M, class V = typename M::V>
  static V simd(V x) {
    const V t = M::tanh(V(0.5f) * x);
    return M::select(x > V(0.0f), x, M::quotient(t + t, V(1.0f) - t));
  }
  // Off by 3e-8 of max(1, |x|)
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V y) {
    return M::select(y > V(0.0f), dy, dy * (y + V(1.0f)));
  }
};

struct Softplus {  // log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow
  static constexpr const char* name = "softplus";
  static constexpr Claim claim{-104, 104, 2.7};
  static constexpr bool saves_output = false;
  static constexpr double slope_error = 1.5e-7;
  static double plain(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x))); }
  static double plain_backward(double dy, double x) { return dy * Sigmoid::plain(x); }
  // 2.52 ULP
  template <class M, class V = typename M::V>
  static V simd(V x) {
    return M::select(x > V(0.0f), x, V(0.0f)) + M::log_one_plus(M::exp(M::negative_magnitude(x)));
  }
  // Off by 7.1e-8 of max(1, |x|)
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V x) {
    return dy * M::sigmoid(x);
  }
};

struct Gelu {  // x times the normal distribution function, x * (1 + erf(x / sqrt 2)) / 2
  static constexpr const char* name = "gelu";
  static constexpr Claim claim{-100, 100, 0, 2e-7};
  static constexpr bool saves_output = false;
  static constexpr double slope_error = 2.5e-7;
  static constexpr double root_half = 0.70710678118654752440;   // sqrt(1/2)
  static constexpr double gauss_peak = 0.39894228040143267794;  // 1 / sqrt(2 pi)

  // Below -40 the true value is less than the smallest double; stopping there keeps -inf * 0 from
  // becoming NaN.
  static double plain(double x) {
    x = std::max(x, -40.0);
    return x * std::erfc(-x * root_half) / 2;
  }
  // d gelu / dx = Phi(x) + x phi(x); beyond 40 on either side it is 1 or 0 to the last bit
  static double plain_backward(double dy, double x) {
    x = std::clamp(x, -40.0, 40.0);
    return dy * (std::erfc(-x * root_half) / 2 + x * gauss_peak * std::exp(-x * x / 2));
  }

  // x Phi(x) = max(x, 0) - a Phi(-a) for a = |x|, with Phi(-a) = 2^q(a). q was fitted on [0, 6] and
  // falls on to -143 at 12, of which exp2 makes 0. a stops there: an infinite one would meet that
  // 0. Off by 9.7e-8 of max(1, |x|)
  static constexpr float end = 12;
  template <class M, class V = typename M::V>
  static V simd(V x) {
    const V a = M::smaller(V(end), M::absolute(x));
    const V positive = M::larger(V(0.0f), x);
    const V tail = M::exp2(M::polynomial_even_odd(a, coefficients::log2_normal_tail));
    return M::negative_multiply_add(a, tail, positive);
  }
  // Phi(x) + x phi(x) is S(a) below 0 and 1 - S(a) above, where S(a) = Phi(-a) - a phi(a) =
  // exp(-a^2 / 2) r(a). a stops at 10, where exp is 2e-22: further on, denormals would come up,
  // which take a hundred times as long. Off by 1.8e-7 of max(1, |x|)
  static constexpr float far = 10;
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V x) {
    constexpr float half_log2_e = 0.721347520f;
    const V a = M::smaller(V(far), M::absolute(x));
    const V s = M::exp2(V(-half_log2_e) * a * a) * M::polynomial(a, coefficients::gelu_slope);
    return dy * M::select(x < V(0.0f), s, V(1.0f) - s);
  }
};

// The approximation of gelu by Hendrycks & Gimpel 2016: x (1 + tanh(u)) / 2 = x sigmoid(2u) with
// u = sqrt(2/pi) (x + 0.044715 x^3)
struct GeluTanh {
  static constexpr const char* name = "gelu_tanh";
  static constexpr Claim claim{-100, 100, 0, 2e-7};
  static constexpr bool saves_output = false;
  static constexpr double slope_error = 2.5e-7;
  static constexpr double scale = 0.79788456080286535588;  // sqrt(2 / pi)
  static constexpr double cubic = 0.044715;

  static double share(double x) { return Sigmoid::plain(2 * scale * (x + cubic * x * x * x)); }
  static double plain(double x) {
    x = std::max(x, -40.0);
    return x * share(x);
  }
  // The slope of s = sigmoid(2u) is s (1 - s).
  static double plain_backward(double dy, double x) {
    x = std::clamp(x, -40.0, 40.0);
    const double s = share(x);
    return dy * (s + x * s * (1 - s) * 2 * scale * (1 + 3 * cubic * x * x));
  }

  // s and its derivative by 2u. That is e / (1 + e)^2 with e = exp(-2 |u|): s (1 - s) would lose
  // digits where s is near 1.
  template <class M, class V = typename M::V>
  struct Share {
    V s, slope;

    TAPESTRY_INLINE explicit Share(V x) {
      const V u = V(1.59576912f) * M::multiply_add(V(0.044715f) * x, x * x, x);
      const V e = M::exp_below_88(M::negative_magnitude(u));
      const V most = M::quotient(V(1.0f), V(1.0f) + e), least = e * most;
      s = M::select(u < V(0.0f), least, most);
      slope = least * most;
    }
  };
  // These two stop at -30 (the slope at 30, too): otherwise an infinite x meets a factor of 0. Off
  // by 1.4e-7 of max(1, |x|)
  static constexpr float far = 30;
  template <class M, class V = typename M::V>
  static V simd(V x) {
    x = M::larger(V(-far), x);
    return x * Share<M>(x).s;
  }
  // Off by 2e-7 of max(1, |x|)
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V x) {
    x = M::bounded(x, -far, far);
    const Share<M> share(x);
    const V inner = V(1.59576912f) * M::multiply_add(V(0.134145f) * x, x, V(1.0f));
    return dy * M::multiply_add(x * share.slope, inner, share.s);
  }
};

struct Silu {  // x sigmoid(x)
  static constexpr const char* name = "silu";
  static constexpr Claim claim{-100, 100, 0, 2e-7};
  static constexpr bool saves_output = false;
  static constexpr double slope_error = 2e-7;

  // Where these forms stop, sigmoid(x) is 0 or 1 to the last bit; an infinite x would meet a factor
  // of 0. The floats stop before denormals come up, which take a hundred times as long.
  static double plain(double x) {
    x = std::max(x, -710.0);
    return x * Sigmoid::plain(x);
  }
  static double plain_backward(double dy, double x) {
    x = std::clamp(x, -710.0, 710.0);
    const double s = Sigmoid::plain(x);
    return dy * (s + x * s * Sigmoid::plain(-x));
  }
  static constexpr float far = 80;
  template <class M, class V = typename M::V>
  static V simd(V x) {
    const V above = M::larger(V(-far), x);
    return M::select(x <= V(-far), V(0.0f), above * M::sigmoid(above));
  }
  // Off by 1.2e-7 of max(1, |x|)
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V x) {
    x = M::bounded(x, -far, far);
    const V s = M::sigmoid(x);
    return dy * M::multiply_add(x * s, M::sigmoid(V(0.0f) - x), s);
  }
};

struct Mish {  // x tanh(softplus(x)) (Misra 2019)
  static constexpr const char* name = "mish";
  static constexpr Claim claim{-109, 109, 3.5};
  static constexpr bool saves_output = false;
  static constexpr double slope_error = 3e-7;

  // Beyond 750 on either side tanh is 0 or 1 to the last bit; an infinite x would meet a factor of
  // 0.
  static double plain(double x) {
    x = std::max(x, -750.0);
    return x * std::tanh(Softplus::plain(x));
  }
  static double plain_backward(double dy, double x) {
    x = std::clamp(x, -750.0, 750.0);
    const double t = std::tanh(Softplus::plain(x));
    return dy * (t + x * Sigmoid::plain(x) * (1 - t * t));
  }

  // tanh(softplus(x)) with e = exp(-|x|), where nothing overflows and nothing cancels: top / bottom
  // = (1 + 2 e) / (1 + 2 e (1 + e)), and below 0 e times top / bottom = (2 + e) / (2 + e (2 + e))
  template <class M, class V = typename M::V>
  struct Share {
    V top, bottom;

    TAPESTRY_INLINE Share(V x, V e) {
      const auto below = x < V(0.0f);
      const V twice = e + e, two_more = V(2.0f) + e;
      top = M::select(below, two_more, V(1.0f) + twice);
      bottom = M::select(below, M::multiply_add(e, two_more, V(2.0f)),
                         M::multiply_add(twice, V(1.0f) + e, V(1.0f)));
    }
  };
  // Below -87 exp(x) is denormal, but x exp(x) is not yet: below -64 it is exp(x + 32) exp(-32).
  // From -far on the result rounds to 0; so does the last factor, and no denormal comes up.
  // 3.36 ULP
  static constexpr float far = 108.661f;
  template <class M, class V = typename M::V>
  static V simd(V x) {
    constexpr float least = 1.26641655e-14f;  // exp(-32)
    x = M::larger(V(-far), x);
    const auto tiny = x < V(-64.0f);
    const V e = M::exp_below_88(M::negative_magnitude(M::select(tiny, x + V(32.0f), x)));
    const Share<M> share(x, e);
    const V factor = M::select(x <= V(-far), V(0.0f), M::select(tiny, V(least), V(1.0f)));
    const V part = factor * M::quotient(share.top, share.bottom);
    return x * M::select(x < V(0.0f), e, V(1.0f)) * part;
  }
  // The slope is t + x sigmoid(x) (1 - t^2) for the tanh t; the latter two make 4 e (1 + e) /
  // bottom^2, times e where x >= 0. Off by 2.6e-7 of max(1, |x|)
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V x) {
    x = M::bounded(x, -80.0f, 40.0f);  // beyond, e or its square would be denormal
    const auto below = x < V(0.0f);
    const V e = M::exp_below_88(M::negative_magnitude(x));
    const Share<M> share(x, e);
    const V inverse = M::quotient(V(1.0f), share.bottom);
    const V t = share.top * M::select(below, e, V(1.0f));
    // 1 below 0, else e; a compiler makes two products of a select of them, and one is denormal
    const V again = M::larger(M::select(below, V(1.0f), V(0.0f)), e);
    const V bend = V(4.0f) * x * e * (V(1.0f) + e) * again;
    return dy * inverse * M::multiply_add(bend, inverse, t);
  }
};

using SmoothFunctions =
    FunctionList<Exp, Log, Sin, Cos, Tanh, Erf, Sigmoid, Elu, Gelu, GeluTanh, Mish, Silu, Softplus>;
using UnaryFunctions = JoinedLists<ExactFunctions, SmoothFunctions>::List;

}  // namespace tapestry::kernels
