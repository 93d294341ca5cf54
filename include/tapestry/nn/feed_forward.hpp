// Two linear maps with an activation between, the same for every position; or three, one of which
// is a gate.
#pragma once

#include <optional>
#include <string>

#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/module.hpp"

namespace tapestry {

struct FeedForwardOptions {
  Index d_ff = 0;  // width between the two maps; 0 means 4 d_model
  Activation activation = Activation::gelu;
  bool bias = true;
  Initializer initializer = init::normal;
  bool gated = false;  // with silu it is SwiGLU (Shazeer 2020; Llama)
};

// y = activation(x W_up + b_up) W_down + b_down (Vaswani et al. 2017, section 3.3). Gated:
// y = (activation(x W_gate + b_gate) * (x W_up + b_up)) W_down + b_down.
struct FeedForward : Module {
  std::optional<Linear> gate;  // (d_model, d_ff), if gated
  Linear up;                   // (d_model, d_ff)
  Linear down;                 // (d_ff, d_model)
  Activation activation;

  // Throws Error for a size below 1 (d_ff: below 0) and an initializer that is null.
  FeedForward(Index d_model, Random& random, const FeedForwardOptions& options = {});

  // x (..., d_model) -> the same shape. Throws Error for another last axis.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Members members() const override;
};

}  // namespace tapestry
