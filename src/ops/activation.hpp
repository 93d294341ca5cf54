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

}  // namespace tapestry
