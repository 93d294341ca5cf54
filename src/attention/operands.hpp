// Operands of attention in all its forms, checked and measured.
#pragma once

#include <string>

#include "tapestry/attention.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// "name: q is (2, 3), k is (2, 3), v is (2, 3): ", as errors begin.
std::string error_prefix(const char* name, const Tensor& q, const Tensor& k, const Tensor& v);

// Throws Error, which begins with the name, for a scale that is not finite or a cap that is not
// finite or below 0.
void check_scores(const char* name, const ScoreOptions& how);

struct AttentionOperands {
  Shape batch;  // all leading axes, broadcast
  Index queries, keys, width, value_width;

  // Throws Error unless they fit each other.
  AttentionOperands(const char* name, const Tensor& q, const Tensor& k, const Tensor& v);

  // Those that a mask distinguishes.
  Index sequences() const { return batch.ndim() == 0 ? 1 : batch[0]; }
  Index heads() const { return batch.ndim() == 0 ? 1 : batch.removed(0).numel(); }
};

}  // namespace tapestry
