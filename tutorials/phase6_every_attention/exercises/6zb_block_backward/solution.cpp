#include "gpt.hpp"

namespace learn {

// x matrix = y: adds the matrix's gradient to `to`, and returns that of x.
static Tensor product_backward(const Tensor& dy, const Tensor& x, const Tensor& matrix,
                               Tensor& to) {
  const MatmulGradients both = matmul_backward(dy, x, matrix);
  add_to(to, both.db);
  return both.da;
}

static Tensor norm_backward(const Tensor& x, const Tensor& gain, const Tensor& dy, Tensor& to_gain,
                            Tensor& to_shift) {
  const LayerNormGradients all = layer_norm_backward(x, gain, Gpt::eps, dy);
  add_to(to_gain, all.dgain);
  add_to(to_shift, all.dshift);
  return all.dx;
}

// dmixed (n, d) -> the gradient of seen, (n, d)
static Tensor heads_backward(const GptBlock& w, const BlockTrace& kept, const Tensor& dmixed,
                             GptBlock& g) {
  const Tensor parts = split_into_heads(dmixed, Gpt::heads);  // (heads, n, width)
  Tensor dq = Tensor::zeros(parts.shape()), dk = dq.clone(), dv = dq.clone();
  for (Index head = 0; head < Gpt::heads; ++head) {
    const Tensor weights = matrix_of(kept.weights, head);  // (n, n)
    const MixtureGradients mixture =
        mixture_backward(weights, matrix_of(kept.v, head), matrix_of(parts, head));
    const ScoreGradients scores = scores_backward(matrix_of(kept.q, head), matrix_of(kept.k, head),
                                                  weights, mixture.dweights);
    put_matrix(dq, head, scores.dq);
    put_matrix(dk, head, scores.dk);
    put_matrix(dv, head, mixture.dvalues);
  }
  Tensor dseen = product_backward(join_heads(dq), kept.seen, w.query, g.query).clone();
  add_to(dseen, product_backward(join_heads(dk), kept.seen, w.key, g.key));
  add_to(dseen, product_backward(join_heads(dv), kept.seen, w.value, g.value));
  return dseen;
}

Tensor gpt_block_backward(const GptBlock& w, const BlockTrace& kept, const Tensor& dy,
                          GptBlock& gradients) {
  GptBlock& g = gradients;
  add_to(g.down_bias, broadcast_backward(dy, g.down_bias.shape()));
  const Tensor dactive = product_backward(dy, kept.active, w.down, g.down);  // (n, f)
  const Tensor dup = gelu_backward(dactive, kept.up);                        // (n, f)
  add_to(g.up_bias, broadcast_backward(dup, g.up_bias.shape()));
  const Tensor dseen2 = product_backward(dup, kept.seen2, w.up, g.up);  // (n, d)
  const Tensor dmiddle = broadcast_add(                                 // (n, d)
      dy, norm_backward(kept.middle, w.gain2, dseen2, g.gain2, g.shift2));
  const Tensor dmixed = product_backward(dmiddle, kept.mixed, w.output, g.output);  // (n, d)
  const Tensor dseen = heads_backward(w, kept, dmixed, g);                          // (n, d)
  return broadcast_add(dmiddle, norm_backward(kept.x, w.gain1, dseen, g.gain1, g.shift1));
}

}  // namespace learn
