// What training adds to a fixed map, as a product of two thin matrices (LoRA; Hu et al. 2021).
#pragma once

#include "tapestry/nn/module.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// y = scale (x A) B with scale = alpha / rank, beside a map x W + b that stays as it is: together
// they are the map W + scale A B. B begins as zeros, so that at first nothing changes. A and B have
// rank (in + out) numbers, W has in out. (Hu et al. 2021 write x A^T B^T, and call the first A.)
// The rank divides so that the learning rate need not change with it; that is not tested here.
struct Lora : Module {
  Tensor down;   // A, (in, rank); random, lecun_normal
  Tensor up;     // B, (rank, out); zeros
  double alpha;  // how much the change counts

  // alpha 0 means `rank`: the scale is then 1. Throws Error for a rank below 1 or above in or out,
  // of which A B could not have more, and an alpha that is negative or no number.
  Lora(Index in, Index out, Index rank, double alpha, Random& random);

  Index rank() const { return down.size(1); }
  [[nodiscard]] double scale() const { return alpha / static_cast<double>(rank()); }

  // x (..., in) -> (..., out). Throws Error for another last axis.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  // What it adds to the weight: scale A B, (in, out).
  [[nodiscard]] Tensor change() const;

  Members members() const override;
};

}  // namespace tapestry
