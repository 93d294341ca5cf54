#include <cmath>

#include "phase7.hpp"

namespace learn {

Tensor direct_contributions(const SeenAttention& layer, const ModelEnd& end, Index token,
                            Index against) {
  const Index heads = layer.values.size(0), n = layer.values.size(1), d = layer.values.size(2);
  const Index d_model = end.gain.size(0);
  double square = 0;
  for (Index c = 0; c < d_model; ++c) {
    square += std::pow(end.stream.at({n - 1, c}), 2) / double(d_model);
  }
  const double scale = 1 / std::sqrt(square + end.eps);
  Tensor result = Tensor::zeros({heads});  // (heads)
  for (Index h = 0; h < heads; ++h) {
    const Tensor weights = slice(slice(layer.weights, 0, h, h + 1), 1, n - 1, n);  // (1, 1, n)
    const Tensor mixed = matmul(weights, slice(layer.values, 0, h, h + 1));        // (1, 1, d)
    const Tensor written = matmul(mixed, slice(layer.w_o, 0, h * d, h * d + d));  // (1, 1, d_model)
    double sum = 0;
    for (Index c = 0; c < d_model; ++c) {
      const double apart =
          double{end.unembedding.at({c, token})} - double{end.unembedding.at({c, against})};
      sum += written.at({0, 0, c}) * scale * end.gain.at({c}) * apart;
    }
    result.set({h}, sum);
  }
  return result;
}

}  // namespace learn
