// Functions of one number that are exact, or correctly rounded (function_list.hpp tells what a
// function is).
#pragma once

#include <cmath>

#include "kernels/function_list.hpp"

namespace tapestry::kernels {

struct Negate {
  static constexpr const char* name = "negate";
  static constexpr Claim claim{-1e30, 1e30, 0};
  static double plain(double x) { return -x; }
  template <class M>
  static auto simd(typename M::V x) {
    return M::negative(x);
  }
};

struct Sqrt {
  static constexpr const char* name = "sqrt";
  static constexpr Claim claim{0, 3e38, 0.5001};
  static double plain(double x) { return std::sqrt(x); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::square_root(x);
  }
};

struct Relu {
  static constexpr const char* name = "relu";
  static constexpr Claim claim{-1e30, 1e30, 0};
  static constexpr bool saves_output = true;
  static constexpr double slope_error = 0;
  static double plain(double x) { return x <= 0 ? 0 : x; }  // NaN <= 0 is false: NaN stays
  static double plain_backward(double dy, double y) { return y <= 0 ? 0 : dy; }
  template <class M, class V = typename M::V>
  static V simd(V x) {
    return M::select(x <= V(0.0f), V(0.0f), x);
  }
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V y) {
    return M::select(y <= V(0.0f), V(0.0f), dy);
  }
};

struct Abs {
  static constexpr const char* name = "abs";
  static constexpr Claim claim{-1e30, 1e30, 0};
  static constexpr bool saves_output = false;
  static constexpr double slope_error = 0;
  static double plain(double x) { return std::abs(x); }
  static double plain_backward(double dy, double x) { return x > 0 ? dy : x < 0 ? -dy : dy * x; }
  template <class M>
  static auto simd(typename M::V x) {
    return M::absolute(x);
  }
  template <class M, class V = typename M::V>
  static V simd_backward(V dy, V x) {
    return M::select(x > V(0.0f), dy, M::select(x < V(0.0f), M::negative(dy), dy * x));
  }
};

struct Sign {  // -1, 0 or 1
  static constexpr const char* name = "sign";
  static constexpr Claim claim{-1e30, 1e30, 0};
  static double plain(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }  // NaN stays
  template <class M, class V = typename M::V>
  static V simd(V x) {
    return M::select(x > V(0.0f), V(1.0f), M::select(x < V(0.0f), V(-1.0f), x));
  }
};

struct Floor {
  static constexpr const char* name = "floor";
  static constexpr Claim claim{-1e30, 1e30, 0};
  static double plain(double x) { return std::floor(x); }
  template <class M, class V = typename M::V>
  static V simd(V x) {
    const V near = M::rounded(x);
    return M::select(near > x, near - V(1.0f), near);
  }
};

struct Ceil {
  static constexpr const char* name = "ceil";
  static constexpr Claim claim{-1e30, 1e30, 0};
  static double plain(double x) { return std::ceil(x); }
  template <class M, class V = typename M::V>
  static V simd(V x) {
    const V near = M::rounded(x);
    return M::select(near < x, near + V(1.0f), near);
  }
};

struct Round {  // halves to the even neighbour
  static constexpr const char* name = "round";
  static constexpr Claim claim{-1e30, 1e30, 0};
  static double plain(double x) { return std::nearbyint(x); }
  template <class M>
  static auto simd(typename M::V x) {
    return M::rounded(x);
  }
};

struct IsNan {  // 1 or 0
  static constexpr const char* name = "isnan";
  static constexpr Claim claim{-1e30, 1e30, 0};
  static double plain(double x) { return std::isnan(x) ? 1 : 0; }
  template <class M, class V = typename M::V>
  static V simd(V x) {
    return M::select(x == x, V(0.0f), V(1.0f));
  }
};

using ExactFunctions = FunctionList<Negate, Sqrt, Relu, Abs, Sign, Floor, Ceil, Round, IsNan>;

}  // namespace tapestry::kernels
