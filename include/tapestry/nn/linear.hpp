// y = x W + b
#pragma once

#include <optional>
#include <string>

#include "tapestry/nn/init.hpp"
#include "tapestry/nn/lora.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct LinearOptions {
  // Of the weight; a bias is initially 0. With that of Glorot & Bengio (2010) activations neither
  // vanish nor grow through many maps. Layers made of maps choose their own. With init::normal, the
  // small values of GPT, a plain net of two maps hardly learns: its gradients nearly vanish.
  Initializer initializer = init::xavier_uniform;
  bool bias = true;
};

struct Linear : Module {
  Tensor weight;                     // (in, out)
  Tensor bias;                       // (out), or undefined
  std::optional<Lora> adapter = {};  // added to the weight; see nn/adapters.hpp

  // Throws Error for a size below 1 and an initializer that is null.
  Linear(Index in, Index out, Random& random, const LinearOptions& options = {});

  // activation(x W + b), with an adapter activation(x W + b + scale (x A) B):
  // x (..., in) -> (..., out). Throws Error for another last axis.
  [[nodiscard]] Tensor operator()(const Tensor& x, Activation activation = Activation::none) const;

  // The weight of one map that does the same, to rounding: W + scale A B (in, out); without an
  // adapter W itself. Whoever computes with a weight outside this layer reads it so.
  [[nodiscard]] Tensor merged() const;

  Members members() const override;
};

}  // namespace tapestry
