// What a function of each element is: a struct, in one place, with its name, its plain form, its
// SIMD form and what tests try. Each header of functions ends with their list: a new function is
// one struct, and its name there. The table of kernels, every set and the tests walk UnaryFunctions
// (functions.hpp, functions_elementary.hpp and functions_exact.hpp) and BinaryFunctions
// (functions_of_two.hpp).
//
//   plain(x)      in double; the reference set rounds it once
//   simd<M>(x)    the same for a batch of floats; M is Math<A> of the set, with all that it offers.
//                 Without one the plain form serves every set.
//   claim         where tests sweep it, and how far off a float may be. Those that are off by more
//                 than 1 ULP count as slow, and their input is prefetched.
//
// and with a kernel of its own for the gradient (without one, ops/ makes it of other operations):
//
//   saves_output  whether the gradient reads the output y, or else the input x
//   plain_backward(dy, saved), simd_backward<M>(dy, saved)
//   slope_error   how far off the derivative may be, relative to max(1, |x|)
//
// A function of two numbers has a name, plain(a, b) and simd<M>(a, b).
// Nothing here but templates reaches the files of an instruction set (traits.hpp tells why).
#pragma once

#include <type_traits>

#define TAPESTRY_INLINE [[gnu::always_inline]] inline

namespace tapestry::kernels {

// Off by at most `ulp` distances of neighbouring floats, or else by `absolute` * max(1, |x|), for
// every x in [low, high].
struct Claim {
  double low, high, ulp, absolute = 0;
};

// Whether a function has a kernel of its own for the gradient.
template <class F>
concept has_backward = requires { F::saves_output; };

template <class... F>
struct FunctionList {
  static constexpr int count = sizeof...(F);

  // Calls body(F{}) for each function in turn: they hold nothing, so an object stands for its type.
  template <class Body>
  static void each(Body body) {
    (body(F{}), ...);
  }

  // Where a function stands in the list; `count` if it does not.
  template <class Wanted>
  static consteval int place() {
    int place = 0;
    static_cast<void>(((std::is_same_v<F, Wanted> || (++place, false)) || ...));
    return place;
  }
};

template <class One, class Other>
struct JoinedLists;
template <class... F, class... G>
struct JoinedLists<FunctionList<F...>, FunctionList<G...>> {
  using List = FunctionList<F..., G...>;
};

}  // namespace tapestry::kernels
