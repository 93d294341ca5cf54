// The kernels of activations.
#pragma once

#include "kernels/table.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

// Null for Activation::none; the gradient reads the output, or else the input.
struct ActivationKernels {
  kernels::Unary function = nullptr;
  kernels::UnaryBackward backward = nullptr;
  bool saves_output = true;
};

ActivationKernels kernels_of(Activation activation);

// The recorded operation: relu(x), gelu(x), ...; x itself for Activation::none.
Tensor activated(const Tensor& x, Activation activation);

// What `work` gives for the activation's function, and `otherwise` for Activation::none.
template <class Result, class Work>
Result with_function(Activation activation, const Result& otherwise, Work work) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return work(kernels::Relu());
    case Activation::gelu:
      return work(kernels::Gelu());
    case Activation::gelu_tanh:
      return work(kernels::GeluTanh());
    case Activation::silu:
      return work(kernels::Silu());
  }
  return otherwise;
}

}  // namespace tapestry
