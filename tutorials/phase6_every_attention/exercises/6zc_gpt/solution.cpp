#include "gpt.hpp"

namespace learn {

double gpt_loss(const Gpt& w, const Indices& ids, const Indices& targets, Gpt& gradients) {
  Gpt& g = gradients;
  const Index n = ids.shape[0];
  const Tensor places = slice(w.positions, 0, 0, n).clone();          // (n, d)
  Tensor x = broadcast_add(embedding_forward(w.words, ids), places);  // (n, d)
  std::vector<BlockTrace> kept(w.blocks.size());
  for (std::size_t i = 0; i < w.blocks.size(); ++i) {
    x = gpt_block_forward(w.blocks[i], x, kept[i]);  // (n, d)
  }
  const Tensor seen = layer_norm_forward(x, w.gain, w.shift, Gpt::eps);  // (n, d)
  const Tensor logits = matmul_forward(seen, w.logits);                  // (n, vocabulary)
  const double loss = cross_entropy_forward(logits, targets);

  const MatmulGradients product =
      matmul_backward(cross_entropy_backward(logits, targets), seen, w.logits);
  add_to(g.logits, product.db);
  const LayerNormGradients norm = layer_norm_backward(x, w.gain, Gpt::eps, product.da);
  add_to(g.gain, norm.dgain);
  add_to(g.shift, norm.dshift);
  Tensor dx = norm.dx;  // (n, d)
  for (std::size_t i = w.blocks.size(); i-- > 0;) {
    dx = gpt_block_backward(w.blocks[i], kept[i], dx, g.blocks[i]);  // (n, d)
  }
  add_to(g.words, embedding_backward(dx, ids, w.words.size(0)));
  Tensor used = slice(g.positions, 0, 0, n);  // (n, d), the first rows of that memory
  add_to(used, dx);
  return loss;
}

}  // namespace learn
