#include <cmath>

#include "phase6.hpp"

namespace learn {

Tensor additive_scores(const Tensor& s, const Tensor& h, const Tensor& w, const Tensor& u,
                       const Tensor& v) {
  const Tensor asks = matmul(s, w);     // (queries, c)
  const Tensor answers = matmul(h, u);  // (keys, c)
  const Index queries = s.size(0), keys = h.size(0), width = v.size(0);
  Tensor result = Tensor::zeros({queries, keys});  // (queries, keys)
  for (Index i = 0; i < queries; ++i) {
    for (Index j = 0; j < keys; ++j) {
      double score = 0;
      for (Index c = 0; c < width; ++c) {
        score +=
            double{v.at({c})} * std::tanh(double{asks.at({i, c})} + double{answers.at({j, c})});
      }
      result.set({i, j}, score);
    }
  }
  return result;
}

}  // namespace learn
