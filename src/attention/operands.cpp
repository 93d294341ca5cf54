#include "attention/operands.hpp"

#include <cmath>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {
namespace {

void check(const char* name, const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto refuse = [&](const std::string& rule) {
    throw Error(error_prefix(name, q, k, v) + rule);
  };
  if (q.ndim() < 2 || k.ndim() < 2 || v.ndim() < 2) refuse("each must be (..., length, width).");
  if (q.size(-1) != k.size(-1) || q.size(-1) == 0) {
    refuse("queries and keys must have the same width, at least 1 (" + std::to_string(q.size(-1)) +
           " and " + std::to_string(k.size(-1)) + ").");
  }
  if (k.size(-2) != v.size(-2)) {
    refuse("there must be one value for each key (" + std::to_string(k.size(-2)) + " keys, " +
           std::to_string(v.size(-2)) + " values).");
  }
}

}  // namespace

std::string error_prefix(const char* name, const Tensor& q, const Tensor& k, const Tensor& v) {
  return std::string(name) + ": q is " + to_string(q.shape()) + ", k is " + to_string(k.shape()) +
         ", v is " + to_string(v.shape()) + ": ";
}

void check_scores(const char* name, const ScoreOptions& how) {
  if (how.scale && !std::isfinite(*how.scale)) {
    throw Error(std::string(name) + ": the scale is " + exact_text(*how.scale) +
                ", but must be finite.");
  }
  if (!(how.softcap >= 0 && std::isfinite(how.softcap))) {
    throw Error(std::string(name) + ": the softcap is " + exact_text(how.softcap) +
                ", but must be a number above 0, or 0 for none.");
  }
}

AttentionOperands::AttentionOperands(const char* name, const Tensor& q, const Tensor& k,
                                     const Tensor& v) {
  check(name, q, k, v);
  queries = q.size(-2), keys = k.size(-2), width = q.size(-1), value_width = v.size(-1);
  const std::string axes = std::string(name) + ", leading axes";
  batch = broadcast_shapes(axes, broadcast_shapes(axes, leading(q), leading(k)), leading(v));
}

}  // namespace tapestry
