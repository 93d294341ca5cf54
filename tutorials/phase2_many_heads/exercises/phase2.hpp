// The functions that the exercises of phase 2 ask for.
#pragma once

#include <functional>

#include "course/learn.hpp"

namespace tapestry {

// The splitting of heads as a function: x (n, heads d), heads -> (heads, n, d).
using SplitFunction = std::function<Tensor(const Tensor& x, Index heads)>;

// The matrices of multi-head attention, (d_model, d_model) each.
struct HeadMatrices {
  Tensor query, key, value, output;
};

// d before a name: the gradient of the loss by it, of the same shape.
struct LayerNormGradients {
  Tensor dx, dgain, dshift;
};

// A layer, or a part of one: rows (n, d_model) -> (n, d_model).
using RowsFunction = std::function<Tensor(const Tensor& x)>;

struct BlockParts {
  RowsFunction attention_norm, attention, feed_forward_norm, feed_forward;
};

// The backward pass of a part: the rows x that it read, and the gradient dy of what it made of
// them -> the gradient of x.
using RowsBackward = std::function<Tensor(const Tensor& x, const Tensor& dy)>;

struct BlockPartsBackward {
  RowsBackward attention_norm, attention, feed_forward_norm, feed_forward;
};

}  // namespace tapestry

namespace learn {

Tensor split_into_heads(const Tensor& x, Index heads);  // 21a
Tensor join_heads(const Tensor& x);                     // 21b

Tensor multi_head_forward(const Tensor& x, const HeadMatrices& w, Index heads);  // 22a
bool split_test_passes(const SplitFunction& f);                                  // 22b

Tensor mean_of_words(const Tensor& x, const Indices& lengths);  // 26a

Tensor layer_norm_forward(const Tensor& x, const Tensor& gain, const Tensor& shift,
                          double eps);  // 27a
LayerNormGradients layer_norm_backward(const Tensor& x, const Tensor& gain, double eps,
                                       const Tensor& dy);  // 27b
Tensor feed_forward(const Tensor& x, const Tensor& up, const Tensor& up_bias, const Tensor& down,
                    const Tensor& down_bias);                   // 27c
Tensor block_forward(const Tensor& x, const BlockParts& part);  // 27d

// 27e
Tensor block_backward(const Tensor& x, const BlockParts& part, const BlockPartsBackward& back,
                      const Tensor& dy);

Tensor dropout_forward(const Tensor& x, const Tensor& u, double p, bool is_training);  // 28a

}  // namespace learn
