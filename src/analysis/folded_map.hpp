// How a norm goes into the map behind it: for folding.hpp and circuit.hpp.
#pragma once

#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/norm.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// Without weights: gain 1, bias 0.
[[nodiscard]] NormLayer without_weights(const NormLayer& norm);

// map(norm(x)) = folded_map(norm, map)(without_weights(norm)(x)). Of a layer norm, columns are
// centred: normalised rows have mean 0.
[[nodiscard]] Linear folded_map(const NormLayer& norm, const Linear& map);

// What is written to a residual stream that only norms of this kind read: x (..., d_model) without
// the mean of each row, for layer norms; for others a copy.
[[nodiscard]] Tensor folded_writer(const NormLayer& norm, const Tensor& x);

// Throws Error for NormPlace::post; `what` begins the message.
void refuse_post_norm(const char* what, const TransformerOptions& options);

}  // namespace tapestry
