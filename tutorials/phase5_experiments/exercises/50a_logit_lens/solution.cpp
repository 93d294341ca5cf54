#include "phase5.hpp"

namespace learn {

Tensor lens_logits(const Tensor& streams, const Tensor& gain, const Tensor& bias,
                   const Tensor& unembedding) {
  return matmul(layer_norm(streams, gain, bias), unembedding);  // (layers + 1, n, vocabulary)
}

Tensor lens_ranks(const Tensor& logits, const Indices& right) {
  const Index layers = logits.size(0), n = logits.size(1), words = logits.size(2);
  Tensor ranks = Tensor::zeros({layers, n});  // (layers + 1, n)
  for (Index layer = 0; layer < layers; ++layer) {
    for (Index i = 0; i < n; ++i) {
      const real own = logits.at({layer, i, right.values[std::size_t(i)]});
      Index rank = 1;
      for (Index word = 0; word < words; ++word) {
        if (logits.at({layer, i, word}) > own) ++rank;
      }
      ranks.set({layer, i}, double(rank));
    }
  }
  return ranks;
}

}  // namespace learn
