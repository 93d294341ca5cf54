// y = x W + b
#pragma once

#include <string>

#include "tapestry/nn/init.hpp"
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
  Tensor weight;  // (in, out)
  Tensor bias;    // (out), or undefined

  // Throws Error for a size below 1.
  Linear(Index in, Index out, Random& random, const LinearOptions& options = {});

  // activation(x W + b): x (..., in) -> (..., out). Throws Error for another last axis.
  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const;

  Members members() const override { return {{"weight", weight}, {"bias", bias}}; }
};

}  // namespace tapestry
