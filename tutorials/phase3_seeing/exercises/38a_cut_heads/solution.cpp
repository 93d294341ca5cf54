#include "phase3.hpp"

namespace learn {

Tensor head_to_zero(const Tensor& outputs, Index head) {
  Tensor result = outputs.clone();  // (batch, heads, n, d)
  for (Index b = 0; b < outputs.size(0); ++b) {
    for (Index i = 0; i < outputs.size(2); ++i) {
      for (Index c = 0; c < outputs.size(3); ++c) result.set({b, head, i, c}, 0);
    }
  }
  return result;
}

Tensor head_to_mean(const Tensor& outputs, Index head) {
  const Index batch = outputs.size(0);
  Tensor result = outputs.clone();  // (batch, heads, n, d)
  for (Index i = 0; i < outputs.size(2); ++i) {
    for (Index c = 0; c < outputs.size(3); ++c) {
      double sum = 0;
      for (Index b = 0; b < batch; ++b) sum += double{outputs.at({b, head, i, c})};
      for (Index b = 0; b < batch; ++b) result.set({b, head, i, c}, sum / double(batch));
    }
  }
  return result;
}

}  // namespace learn
