// Operands of the variants of attention, checked and measured.
#pragma once

#include <string>

#include "tapestry/error.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct AttentionOperands {
  std::string error_prefix;  // "name: q is (2, 3), k is (2, 3), v is (2, 3): ", for errors
  Shape batch;               // all leading axes, broadcast
  Index queries, keys, width, value_width;

  AttentionOperands(const char* name, const Tensor& q, const Tensor& k, const Tensor& v)
      : error_prefix(std::string(name) + ": q is " + to_string(q.shape()) + ", k is " +
                     to_string(k.shape()) + ", v is " + to_string(v.shape()) + ": ") {
    if (q.ndim() < 2 || k.ndim() < 2 || v.ndim() < 2) {
      throw Error(error_prefix + "each must be (..., length, width).");
    }
    queries = q.size(-2), keys = k.size(-2), width = q.size(-1), value_width = v.size(-1);
    if (width != k.size(-1) || width == 0) {
      throw Error(error_prefix + "queries and keys must have the same width, at least 1.");
    }
    if (keys != v.size(-2)) throw Error(error_prefix + "there must be one value for each key.");
    const auto leading = [](const Tensor& x) { return x.shape().removed(-1).removed(-1); };
    batch = broadcast(name, leading(q), broadcast(name, leading(k), leading(v)));
  }

  Index sequences() const {
    return batch.ndim() == 0 ? 1 : batch[0];
  }  // that a mask may tell apart
};

}  // namespace tapestry
