// 6za. Capstone: a block of a GPT, forward
//
// From here on your functions work together, as in llm.c: no tape, and from the library only memory
// with a shape. What you have not solved yet is taken from the solutions.
//
// Compute one pre-norm block, and keep in `kept` (BlockTrace, gpt.hpp) what 6zb will need:
//
//   seen   = layer_norm_forward(x, gain1, shift1)
//   q, k, v = split_into_heads(seen query), ... of key, of value
//   each head: weights = masked_softmax(q k^T / sqrt(d / heads), causal mask),  mixed = weights v
//   middle = x + join_heads(mixed) output
//   seen2  = layer_norm_forward(middle, gain2, shift2)
//   up     = seen2 up + up_bias,  active = gelu_forward(up)
//   y      = middle + active down + down_bias
//
//   x    (n, d)
//   ->   (n, d)
//
// Products are matmul_forward, sums broadcast_add; causal_mask(n, n, 0) is your mask; matrix_of,
// put_matrix and transposed are given in gpt.hpp. Gpt::heads heads, eps is Gpt::eps.
// Lesson: tutorials/phase2_many_heads/README.md, "The model around attention: a block, built"
#include "gpt.hpp"

namespace learn {

Tensor gpt_block_forward(const GptBlock& w, const Tensor& x, BlockTrace& kept) {
  // Yours.
  not_written_yet();
}

}  // namespace learn
