// Elementary functions of one number (function_list.hpp tells what a function is). simd_math.hpp
// and simd_trigonometry.hpp have the SIMD forms, since other kernels are made of them, too.
#pragma once

#include <cmath>

#include "kernels/function_list.hpp"

namespace tapestry::kernels {

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

}  // namespace tapestry::kernels
