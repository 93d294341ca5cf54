// Functions of one number: elementary ones, activations, and the list of all (function_list.hpp
// tells what a function is).
#pragma once

#include <algorithm>

#include "kernels/coefficients.hpp"
#include "kernels/functions_exact.hpp"

namespace tapestry::kernels {

// ---- Elementary functions: simd_math.hpp and simd_trigonometry.hpp have the SIMD forms, since
// other kernels are made of them, too.

struct Exp {
  static constexpr const char* name = "exp";
  static constexpr Claim claim{-104, 88.72, 1.1};
  static double plain(double x) { return std::exp(x); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::exp(x);
  }
};

struct Log {
  static constexpr const char* name = "log";
  static constexpr Claim claim{1e-45, 3e38, 0.85};
  static double plain(double x) { return std::log(x); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::log(x);
  }
};

struct Sin {
  static constexpr const char* name = "sin";
  static constexpr Claim claim{-1e4, 1e4, 1.05};
  static double plain(double x) { return std::sin(x); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::sin(x);
  }
};

struct Cos {
  static constexpr const char* name = "cos";
  static constexpr Claim claim{-1e4, 1e4, 1.05};
  static double plain(double x) { return std::cos(x); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::cos(x);
  }
};

struct Tanh {
  static constexpr const char* name = "tanh";
  static constexpr Claim claim{-20, 20, 1.15};
  static constexpr bool saves_output = true;
  static constexpr double slope_error = 1.2e-7;
  static double plain(double x) { return std::tanh(x); }
  static double plain_backward(double dy, double y) { return dy * (1 - y * y); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::tanh(x);
  }
  // Off by 4.5e-8 of max(1, |x|)
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V y) {
    return dy * (V(1.0f) - y * y);
  }
};

struct Erf {
  static constexpr const char* name = "erf";
  static constexpr Claim claim{-6, 6, 1.5};
  static double plain(double x) { return std::erf(x); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::erf(x);
  }
};

struct Sigmoid {
  static constexpr const char* name = "sigmoid";
  static constexpr Claim claim{-104, 104, 2.2};
  static constexpr bool saves_output = true;
  static constexpr double slope_error = 6e-8;
  static double plain(double x) { return 1 / (1 + std::exp(-x)); }
  static double plain_backward(double dy, double y) { return dy * y * (1 - y); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::sigmoid(x);
  }
  // Off by 2.3e-8 of max(1, |x|)
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V y) {
    return dy * y * (V(1.0f) - y);
  }
};

// ---- Activations

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

  // x Phi(x) = max(x, 0) - a Phi(-a) for a = |x|, with Phi(-a) = 2^q(a). q falls on beyond 6, where
  // it was fitted. It stops at 10, with 1e-23: further on, denormals would come up, which take a
  // hundred times as long. Off by 8.9e-8 of max(1, |x|)
  static constexpr float far = 10;
  template <class M, class V = typename M::V>
  static V simd(V x) {
    const V a = M::smaller(V(far), M::absolute(x));
    const V positive = M::larger(V(0.0f), x);
    const V tail = M::exp2(M::polynomial(a, coefficients::log2_normal_tail));
    return M::select(x <= V(-far), V(0.0f), M::negative_multiply_add(a, tail, positive));
  }
  // Phi(x) + x phi(x) is S(a) below 0 and 1 - S(a) above, where S(a) = Phi(-a) - a phi(a) =
  // exp(-a^2 / 2) r(a). Off by 1.8e-7 of max(1, |x|)
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

using SmoothFunctions =
    FunctionList<Exp, Log, Sin, Cos, Tanh, Erf, Sigmoid, Elu, Gelu, GeluTanh, Silu, Softplus>;
using UnaryFunctions = JoinedLists<ExactFunctions, SmoothFunctions>::List;

}  // namespace tapestry::kernels
