// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).
#pragma once

#include "tapestry/mask.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

struct Attention {
  Tensor output;   // (..., queries, d_v): for each query a mixture of values
  Tensor weights;  // (..., queries, keys): in [0, 1], each row sums to 1 (or 0: nothing to see)
  Tensor scores;   // (..., queries, keys): q k^T / sqrt(d_k) + bias, before the mask
};

// softmax(q k^T / sqrt(d_k) + bias, where the mask allows) v
//
// q (..., queries, d_k), k (..., keys, d_k), v (..., keys, d_v); leading axes broadcast. With q, k
// and v from one sequence it is self-attention; with k and v from another, cross-attention.
// A query that may attend to nothing gets zero weights, zero output and zero gradients. What the
// mask hides has no influence, even where it is NaN or infinite.
// With a generator, weights are dropped with probability `dropout` before they mix the values
// (Attention.weights shows them before); without one nothing is.
// A bias (nn/positions.hpp has some) broadcasts to the scores, (heads, queries, keys) say.
// While a Capture lives: files scores and weights (..., queries, keys).
// Throws Error, naming the operands, if d_k or the number of keys differ or the mask or the bias do
// not fit, and for a dropout outside [0, 1).
Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {},
                    double dropout = 0, Random* random = nullptr, const Tensor& bias = {});

// The output alone, for when nobody asks to see the weights: they are made block by block and
// forgotten (Dao et al. 2022), so that memory grows with the length, not with its square, and what
// the mask hides costs nothing. Recomputed on the way back. Shapes, masks and errors as above; the
// numbers agree with attention(...).output to rounding (about 1e-6, gradients 1e-5, relative), and
// are the same bits for any number of threads. There is no bias here: who needs one takes the
// explicit path.
Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {});

// (..., length, heads * d) -> (..., heads, length, d): cuts each row into `heads` parts of d
// numbers and brings the heads to the front. A view, nothing is copied. Throws Error, naming the
// sizes, if heads do not divide the last axis.
Tensor split_heads(const Tensor& x, Index heads);

// Its exact inverse: (..., heads, length, d) -> (..., length, heads * d). Throws Error for less
// than three axes.
Tensor concatenate_heads(const Tensor& x);

}  // namespace tapestry
