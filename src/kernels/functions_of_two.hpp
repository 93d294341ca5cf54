// Functions of two numbers, each in one place: as in functions.hpp.
#pragma once

#include <cmath>

#include "kernels/functions.hpp"

namespace tapestry::kernels {

struct Add {
  static constexpr const char* name = "add";
  static double plain(double a, double b) { return a + b; }
  template <class M, class V = typename M::V>
  TAPESTRY_INLINE static V simd(V a, V b) {
    return a + b;
  }
};

struct Subtract {
  static constexpr const char* name = "subtract";
  static double plain(double a, double b) { return a - b; }
  template <class M, class V = typename M::V>
  TAPESTRY_INLINE static V simd(V a, V b) {
    return a - b;
  }
};

struct Multiply {
  static constexpr const char* name = "multiply";
  static double plain(double a, double b) { return a * b; }
  template <class M, class V = typename M::V>
  TAPESTRY_INLINE static V simd(V a, V b) {
    return a * b;
  }
};

struct Divide {
  static constexpr const char* name = "divide";
  static double plain(double a, double b) { return a / b; }
  template <class M, class V = typename M::V>
  TAPESTRY_INLINE static V simd(V a, V b) {
    return M::quotient(a, b);
  }
};

struct Power {
  static constexpr const char* name = "power";
  static double plain(double a, double b) { return std::pow(a, b); }
};

// maximum and minimum give NaN where either side is NaN.

struct Maximum {
  static constexpr const char* name = "maximum";
  static double plain(double a, double b) { return (a > b || a != a) ? a : b; }
  template <class M, class V = typename M::V>
  TAPESTRY_INLINE static V simd(V a, V b) {
    return M::maximum(a, b);
  }
};

struct Minimum {
  static constexpr const char* name = "minimum";
  static double plain(double a, double b) { return (a < b || a != a) ? a : b; }
  template <class M, class V = typename M::V>
  TAPESTRY_INLINE static V simd(V a, V b) {
    return M::minimum(a, b);
  }
};

// Comparisons: 1 where true, 0 where false; one with NaN is false.

struct Equal {
  static constexpr const char* name = "equal";
  static double plain(double a, double b) { return a == b ? 1 : 0; }
  template <class M, class V = typename M::V>
  TAPESTRY_INLINE static V simd(V a, V b) {
    return M::select(a == b, V(1.0f), V(0.0f));
  }
};

struct Less {
  static constexpr const char* name = "less";
  static double plain(double a, double b) { return a < b ? 1 : 0; }
  template <class M, class V = typename M::V>
  TAPESTRY_INLINE static V simd(V a, V b) {
    return M::select(a < b, V(1.0f), V(0.0f));
  }
};

using BinaryFunctions =
    FunctionList<Add, Subtract, Multiply, Divide, Power, Maximum, Minimum, Equal, Less>;

}  // namespace tapestry::kernels
