#include <vector>

#include "phase6.hpp"

namespace learn {

TiledGradients tiles_backward(const Tensor& q, const Tensor& k, const Tensor& v,
                              const Tensor& output, const Tensor& log_sums, const Tensor& d_output,
                              Index tile) {
  const Index tiles = q.size(0) / tile, d = q.size(1);
  const auto rows = [&](const Tensor& x, Index i) { return slice(x, 0, i * tile, (i + 1) * tile); };
  const Tensor big_d = sum(d_output * output, 1, true);                  // (length, 1): D
  const Tensor logs = unsqueeze(log_sums, 1);                            // (length, 1): L
  std::vector<Tensor> dq(std::size_t(tiles), Tensor::zeros({tile, d}));  // (tile, d) each
  std::vector<Tensor> dk = dq, dv = dq;
  for (Index j = 0; j < tiles; ++j) {
    for (Index i = 0; i < tiles; ++i) {
      const auto of_keys = std::size_t(j), of_queries = std::size_t(i);
      const Tensor s = matmul(rows(q, i), transpose(rows(k, j)));           // (tile, tile)
      const Tensor p = exp(s - rows(logs, i));                              // (tile, tile)
      const Tensor dp = matmul(rows(d_output, i), transpose(rows(v, j)));   // (tile, tile)
      const Tensor ds = p * (dp - rows(big_d, i));                          // (tile, tile)
      dq[of_queries] = dq[of_queries] + matmul(ds, rows(k, j));             // (tile, d)
      dk[of_keys] = dk[of_keys] + matmul(transpose(ds), rows(q, i));        // (tile, d)
      dv[of_keys] = dv[of_keys] + matmul(transpose(p), rows(d_output, i));  // (tile, d)
    }
  }
  return {concat(dq, 0), concat(dk, 0), concat(dv, 0)};  // (length, d) each
}

}  // namespace learn
