// The most memory that tensors take at once, in MiB, for steps that compare ways to need less.
#pragma once

#include <functional>

#include "course/operands.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/tape.hpp"

namespace tapestry {

inline double peak_mebibytes(const std::function<void()>& work) {
  return static_cast<double>(peak_memory_of(work)) / 1024 / 1024;
}

// f attends with x: forward and backward.
inline double peak_with_backward(const Operands& x, const std::function<Tensor()>& f) {
  return peak_mebibytes([&] {
    Tape tape({x.q, x.k, x.v});
    const Tensor y = f();  // (length, width)
    tape.backward(y, y);
  });
}

}  // namespace tapestry
