#include "gpt.hpp"

namespace learn {

Tensor gpt_block_forward(const GptBlock& w, const Tensor& x, BlockTrace& kept) {
  const Index n = x.size(0), width = x.size(1) / Gpt::heads;
  kept.x = x;
  kept.seen = layer_norm_forward(x, w.gain1, w.shift1, Gpt::eps);             // (n, d)
  kept.q = split_into_heads(matmul_forward(kept.seen, w.query), Gpt::heads);  // (heads, n, width)
  kept.k = split_into_heads(matmul_forward(kept.seen, w.key), Gpt::heads);
  kept.v = split_into_heads(matmul_forward(kept.seen, w.value), Gpt::heads);
  kept.weights = Tensor::zeros({Gpt::heads, n, n});
  Tensor mixed = Tensor::zeros({Gpt::heads, n, width});
  for (Index head = 0; head < Gpt::heads; ++head) {
    Tensor scores =  // (n, n)
        matmul_forward(matrix_of(kept.q, head), transposed(matrix_of(kept.k, head)));
    real* const score = scores.data();
    for (Index i = 0; i < n * n; ++i) score[i] /= std::sqrt(static_cast<real>(width));
    const Tensor weights = masked_softmax(scores, causal_mask(n, n, 0));  // (n, n)
    put_matrix(kept.weights, head, weights);
    put_matrix(mixed, head, matmul_forward(weights, matrix_of(kept.v, head)));
  }
  kept.mixed = join_heads(mixed);                                                       // (n, d)
  kept.middle = broadcast_add(x, matmul_forward(kept.mixed, w.output));                 // (n, d)
  kept.seen2 = layer_norm_forward(kept.middle, w.gain2, w.shift2, Gpt::eps);            // (n, d)
  kept.up = broadcast_add(matmul_forward(kept.seen2, w.up), w.up_bias);                 // (n, f)
  kept.active = gelu_forward(kept.up);                                                  // (n, f)
  const Tensor down = broadcast_add(matmul_forward(kept.active, w.down), w.down_bias);  // (n, d)
  return broadcast_add(kept.middle, down);
}

}  // namespace learn
