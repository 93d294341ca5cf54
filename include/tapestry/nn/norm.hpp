// The normalisation of a transformer: which layer does it, and where.
#pragma once

#include <variant>

#include "tapestry/nn/layer_norm.hpp"
#include "tapestry/nn/module.hpp"
#include "tapestry/nn/rms_norm.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Where a block normalises.
enum class NormPlace {
  pre,   // x + f(norm(x)): the residual stream is not normalised (GPT-2; Xiong et al. 2020)
  post,  // norm(x + f(x)): as in Vaswani et al. 2017
};

// Which layer normalises.
enum class NormKind {
  layer,  // LayerNorm
  rms,    // RmsNorm
};

// A LayerNorm or an RmsNorm. Its parameters have the names that the layer gives them.
struct NormLayer : Module {
  std::variant<LayerNorm, RmsNorm> layer;

  // Throws Error as the layers do.
  NormLayer(NormKind kind, Index width, double eps = 1e-5);

  // x (..., width) -> the same shape. Throws Error for another last axis.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  Members members() const override;
};

}  // namespace tapestry
