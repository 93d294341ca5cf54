// Functions of two numbers (function_list.hpp tells what a function is).
#pragma once

#include <cmath>

#include "kernels/function_list.hpp"

namespace tapestry::kernels {

struct Add {
  static constexpr const char* name = "add";
  static double plain(double a, double b) { return a + b; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return a + b;
  }
};

struct Subtract {
  static constexpr const char* name = "subtract";
  static double plain(double a, double b) { return a - b; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return a - b;
  }
};

struct Multiply {
  static constexpr const char* name = "multiply";
  static double plain(double a, double b) { return a * b; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return a * b;
  }
};

struct Divide {
  static constexpr const char* name = "divide";
  static double plain(double a, double b) { return a / b; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return M::quotient(a, b);
  }
};

struct Atan2 {  // the angle of the point (b, a), from -pi to pi
  static constexpr const char* name = "atan2";
  static double plain(double a, double b) { return std::atan2(a, b); }
};

struct Power {
  static constexpr const char* name = "power";
  static double plain(double a, double b) { return std::pow(a, b); }
};

// maximum and minimum give NaN where either side is NaN.

struct Maximum {
  static constexpr const char* name = "maximum";
  static double plain(double a, double b) { return a != a ? a : a > b ? a : b; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return M::maximum(a, b);
  }
};

struct Minimum {
  static constexpr const char* name = "minimum";
  static double plain(double a, double b) { return a != a ? a : a < b ? a : b; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return M::minimum(a, b);
  }
};

// Comparisons: 1 where true, 0 where false; with NaN all are false but "not equal".

struct Equal {
  static constexpr const char* name = "equal";
  static double plain(double a, double b) { return a == b ? 1 : 0; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return M::select(a == b, V(1.0f), V(0.0f));
  }
};

struct Less {
  static constexpr const char* name = "less";
  static double plain(double a, double b) { return a < b ? 1 : 0; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return M::select(a < b, V(1.0f), V(0.0f));
  }
};

struct LessEqual {
  static constexpr const char* name = "less_equal";
  static double plain(double a, double b) { return a <= b ? 1 : 0; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {
    return M::select(a <= b, V(1.0f), V(0.0f));
  }
};

struct NotEqual {
  static constexpr const char* name = "not_equal";
  static double plain(double a, double b) { return a != b ? 1 : 0; }
  template <class M, class V = typename M::V>
  static V simd(V a, V b) {  // xsimd's != is false for NaN on some sets
    return M::select(a == b, V(0.0f), V(1.0f));
  }
};

using BinaryFunctions = FunctionList<Add, Subtract, Multiply, Divide, Power, Atan2, Maximum,
                                     Minimum, Equal, NotEqual, Less, LessEqual>;

}  // namespace tapestry::kernels
