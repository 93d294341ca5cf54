#include "phase1.hpp"

namespace learn {

Tensor embedding_forward(const Tensor& table, const Indices& ids) {
  const Index n = ids.shape[0], d = table.size(1);
  Tensor result = Tensor::zeros({n, d});  // (n, d)
  for (Index i = 0; i < n; ++i) {
    const Index id = ids.values[static_cast<std::size_t>(i)];
    for (Index c = 0; c < d; ++c) result.set({i, c}, table.at({id, c}));
  }
  return result;
}

}  // namespace learn
