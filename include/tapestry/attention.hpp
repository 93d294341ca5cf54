// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).
#pragma once

#include <optional>

#include "tapestry/mask.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// How scores are made of q k^T: times `scale`, then held within a cap.
struct ScoreOptions {
  std::optional<double> scale = {};  // without one 1 / sqrt(d_k)
  double softcap = 0;  // c > 0: c * tanh(scores / c), within -c and c (Gemma 2); 0: no cap
};

struct Attention {
  Tensor output;   // (..., queries, d_v): for each query a weighted mean of values
  Tensor weights;  // (..., queries, keys): in [0, 1], each row sums to 1 (or 0: all keys masked)
  Tensor scores;   // (..., queries, keys): scaled q k^T, capped if wanted, + bias; no mask
};

// softmax(q k^T / sqrt(d_k) + bias, where the mask allows) v
//
// q (..., queries, d_k), k (..., keys, d_k), v (..., keys, d_v); leading axes broadcast. With q, k
// and v from one sequence it is self-attention; with k and v from another, cross-attention.
// A query without visible keys gets zero weights, zero output and zero gradients. Masked values
// have no influence, even where they are NaN or infinite.
// Weights are dropped with probability `dropout`, which draws from the generator, before the
// product with the values (Attention.weights holds them undropped). Dropout is for training: to
// evaluate, leave out both.
// `how` may give another scale, and a cap, which the scores get before the bias.
// A bias (nn/positions.hpp has some) broadcasts to the scores, (heads, queries, keys) say.
// Records for Capture: scores and weights (..., queries, keys).
// Throws Error, naming the operands, if d_k or the number of keys differ or the mask or the bias do
// not fit, for a dropout outside [0, 1) or above 0 without a generator, a scale that is not finite,
// or a cap that is not finite or below 0.
[[nodiscard]] Attention attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const Mask& mask = {}, double dropout = 0,
                                  Random* random = nullptr, const Tensor& bias = {},
                                  const ScoreOptions& how = {});

// The output alone, FlashAttention-style (Dao et al. 2022): weights are computed block by block and
// never stored, so memory grows with the length, not with its square, and fully masked blocks are
// skipped. The backward pass recomputes them. Shapes, masks and errors as above; the numbers agree
// with attention(...).output to rounding (about 1e-6, gradients 1e-5, relative), and are bitwise
// equal for any number of threads. There is no bias: use attention() for that.
[[nodiscard]] Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Mask& mask = {}, const ScoreOptions& how = {});

// (..., length, heads * d) -> (..., heads, length, d): cuts each row into `heads` parts of d
// numbers and brings the heads to the front. A view, nothing is copied. Throws Error, naming the
// sizes, if heads do not divide the last axis.
[[nodiscard]] Tensor split_heads(const Tensor& x, Index heads);

// Its inverse: (..., heads, length, d) -> (..., length, heads * d). Throws Error for less than
// three axes.
[[nodiscard]] Tensor concat_heads(const Tensor& x);

}  // namespace tapestry
