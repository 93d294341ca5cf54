// The capstone: a GPT made of the functions of earlier exercises, forward and backward. What it
// needs besides them stands here: its numbers, what a block keeps, and how heads are taken apart.
#pragma once

#include <vector>

#include "phase0.hpp"
#include "phase1.hpp"
#include "phase2.hpp"
#include "phase4.hpp"

namespace tapestry {

// One pre-norm block. n words, d numbers a word, f numbers in the middle of the feed-forward part.
struct GptBlock {
  Tensor gain1, shift1;              // (d): the norm before attention
  Tensor query, key, value, output;  // (d, d)
  Tensor gain2, shift2;              // (d): the norm before the feed-forward part
  Tensor up, up_bias;                // (d, f), (f)
  Tensor down, down_bias;            // (f, d), (d)
};

struct Gpt {
  static constexpr Index heads = 4;
  static constexpr double eps = 1e-5;  // of its norms

  Tensor words, positions;  // (vocabulary, d), (longest text, d)
  std::vector<GptBlock> blocks;
  Tensor gain, shift;  // (d): the last norm
  Tensor logits;       // (d, vocabulary)
};

// What the forward pass of a block keeps for the backward pass.
struct BlockTrace {
  Tensor x, seen;     // (n, d): the input, and what attention sees of it, after the norm
  Tensor q, k, v;     // (heads, n, d / heads)
  Tensor weights;     // (heads, n, n)
  Tensor mixed;       // (n, d): the heads' outputs, joined
  Tensor middle;      // (n, d): after attention was added
  Tensor seen2;       // (n, d): what the feed-forward part sees
  Tensor up, active;  // (n, f): before and after GELU
};

// All tensors of a model, in one order; names of blocks begin with their number.
inline std::vector<Tensor*> tensors_of(GptBlock& b) {
  return {&b.gain1, &b.shift1, &b.query, &b.key,     &b.value, &b.output,
          &b.gain2, &b.shift2, &b.up,    &b.up_bias, &b.down,  &b.down_bias};
}

inline std::vector<Tensor*> tensors_of(Gpt& gpt) {
  std::vector<Tensor*> all = {&gpt.words, &gpt.positions};
  for (GptBlock& block : gpt.blocks) {
    for (Tensor* one : tensors_of(block)) all.push_back(one);
  }
  all.insert(all.end(), {&gpt.gain, &gpt.shift, &gpt.logits});
  return all;
}

// The same shapes, all zeros: where gradients are added up.
template <class Model>
Model zeros_like(Model model) {
  for (Tensor* one : tensors_of(model)) *one = Tensor::zeros(one->shape());
  return model;
}

}  // namespace tapestry

namespace learn {

// ---- given

// The matrix of one head: x (heads, n, m) -> (n, m), a copy.
inline Tensor matrix_of(const Tensor& x, Index head) {
  return squeeze(slice(x, 0, head, head + 1), 0).clone();
}

// x[head] = matrix, where x is (heads, n, m).
inline void put_matrix(Tensor& x, Index head, const Tensor& matrix) {
  const std::vector<real> values = matrix.values();
  std::copy(values.begin(), values.end(), x.data() + head * matrix.numel());
}

inline Tensor transposed(const Tensor& x) { return transpose(x).clone(); }  // (n, m) -> (m, n)

// to += x, of one shape.
inline void add_to(Tensor& to, const Tensor& x) {
  const std::vector<real> values = x.values();
  real* const sum = to.data();
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
}

// ---- to write

Tensor gpt_block_forward(const GptBlock& w, const Tensor& x, BlockTrace& kept);  // 6za
Tensor gpt_block_backward(const GptBlock& w, const BlockTrace& kept, const Tensor& dy,
                          GptBlock& gradients);                                             // 6zb
double gpt_loss(const Gpt& w, const Indices& ids, const Indices& targets, Gpt& gradients);  // 6zc

}  // namespace learn
