#include "phase1.hpp"

namespace learn {

Tensor embedding_backward(const Tensor& dy, const Indices& ids, Index n_words) {
  const Index n = dy.size(0), d = dy.size(1);
  Tensor dtable = Tensor::zeros({n_words, d});  // (n_words, d)
  for (Index i = 0; i < n; ++i) {
    const Index id = ids.values[static_cast<std::size_t>(i)];
    for (Index c = 0; c < d; ++c) dtable.set({id, c}, dtable.at({id, c}) + dy.at({i, c}));
  }
  return dtable;
}

}  // namespace learn
