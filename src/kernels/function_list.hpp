// A list of types that stand for functions, known when the program is compiled.
#pragma once

#include <type_traits>

namespace tapestry::kernels {

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

}  // namespace tapestry::kernels
