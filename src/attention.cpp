#include "tapestry/attention.hpp"

#include <cmath>
#include <limits>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

void check(const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::string operands = "attention: q is " + to_string(q.shape()) + ", k is " +
                               to_string(k.shape()) + ", v is " + to_string(v.shape()) + ": ";
  if (q.rank() < 2 || k.rank() < 2 || v.rank() < 2) {
    throw Error(operands + "each must be (..., length, width).");
  }
  if (q.size(-1) != k.size(-1) || q.size(-1) == 0) {
    throw Error(operands + "queries and keys must have the same width, at least 1 (" +
                std::to_string(q.size(-1)) + " and " + std::to_string(k.size(-1)) + ").");
  }
  if (k.size(-2) != v.size(-2)) {
    throw Error(operands + "there must be one value for each key (" + std::to_string(k.size(-2)) +
                " keys, " + std::to_string(v.size(-2)) + " values).");
  }
}

}  // namespace

Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  check(q, k, v);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor scores = matmul(q, transpose(k)) * scale;  // (..., queries, keys)
  Tensor visible = scores;
  if (!mask.allows_everything()) {
    visible = where(mask.tensor(scores.shape()), scores, -std::numeric_limits<double>::infinity());
  }
  const Tensor weights = softmax(visible);
  return {matmul(weights, v), weights, scores};
}

Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) {
  return attention(q, k, v, mask).output;
}

}  // namespace tapestry
