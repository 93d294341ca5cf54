// Our side of a row, through the library's public operations.
#pragma once

#include <functional>
#include <vector>

#include "row.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry::bench {

// The operation without a tape: inference.
template <class Operation>
Contestant ours(Operation operation) {
  return {"Tapestry", [operation] { const Tensor result = operation(); }};
}

// The backward pass alone: the operation is recorded first, untimed.
Contestant ours_backward(const std::vector<Tensor>& watched, std::function<Tensor()> operation,
                         const Tensor& dy);

// Forward and backward on a new tape.
Contestant ours_both_ways(const std::vector<Tensor>& watched, std::function<Tensor()> operation,
                          const Tensor& dy);

Tensor numbers(const Shape& shape);  // normal, the same in every run

// Size of arrays of real with this many elements.
inline double bytes_of(double elements) { return elements * sizeof(real); }

// Arithmetic per element, about what our kernels do: multiply-adds count as 2.
inline constexpr double exp_flops = 18, gelu_flops = 36, gelu_backward_flops = 42;

}  // namespace tapestry::bench
