// Jacobian norms: how strongly outputs depend on inputs, by the tape. Weights alone cannot tell.
#pragma once

#include <functional>
#include <string>

#include "tapestry/tensor.hpp"

namespace tapestry {

// Entry (i, j) is || d y_i / d x_j ||, y = f(x): the root of the sum of squares of the derivatives
// of every number at position i of y by every number at position j of x (Frobenius norm).
// Positions are the last axis but one, one text at a time: x (..., positions, width), f(x)
// likewise, possibly of other sizes -> (positions of y, positions of x). Exactly 0 without any
// dependence. Each number of y takes a call of f and a backward pass. Throws Error if x or f(x)
// have fewer than two axes, and as Tape does if f(x) does not depend on x.
[[nodiscard]] Tensor jacobian_norms(const std::function<Tensor(const Tensor& x)>& f,
                                    const Tensor& x);

// The same between two tensors inside a model: `to` by `from`, the names under which it records
// them.
//   jacobian_norms([&] { model(ids); }, "embedding", "blocks.1.output");
// Throws Error as above and as Capture does: if another one is active, or nothing has these names.
[[nodiscard]] Tensor jacobian_norms(const std::function<void()>& run, const std::string& from,
                                    const std::string& to);

}  // namespace tapestry
