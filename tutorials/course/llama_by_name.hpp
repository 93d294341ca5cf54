// The forward pass of a llama, written out from operations, with the tensors of its folder taken by
// their names: for step 72. A convention may be changed that neither config.json nor names tell.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tapestry/attention.hpp"
#include "tapestry/io/weight_files.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {

// What a program has to know besides names and shapes. As llama has it:
struct LlamaConventions {
  RotaryLayout layout = RotaryLayout::half_split;
  bool neighbours = true;  // heads 0 and 1 share group 0; false: heads 0 and 2, of 4 heads
  bool query_stored_out_in = true;
  bool scaled = true;    // scores divided by sqrt(d_k)
  bool centred = false;  // norms that subtract the mean
  bool gelu = false;     // in the gate, instead of silu
  bool swapped = false;  // activation(up) * gate
  double eps_factor = 1;
};

struct LlamaPass {
  Tensor logits;                // (length, vocab_size)
  std::vector<Tensor> weights;  // of each layer, (heads, length, length)
};

// Each row of x (heads, length, d_k) turns by angles that grow with its position.
inline Tensor turned(const Tensor& x, RotaryLayout layout, double base) {
  const Index length = x.size(-2), d_k = x.size(-1), half = d_k / 2;
  Tensor cosine = Tensor::empty({length, half}), sine = cosine.clone();  // (length, d_k / 2)
  for (Index p = 0; p < length; ++p) {
    for (Index i = 0; i < half; ++i) {
      const double angle = double(p) / std::pow(base, 2.0 * double(i) / double(d_k));
      cosine.set({p, i}, std::cos(angle));
      sine.set({p, i}, std::sin(angle));
    }
  }
  const bool halves = layout == RotaryLayout::half_split;
  const Tensor a = halves ? slice(x, -1, 0, half) : slice(x, -1, 0, d_k, 2);    // first of pairs
  const Tensor b = halves ? slice(x, -1, half, d_k) : slice(x, -1, 1, d_k, 2);  // second of pairs
  const Tensor c = a * cosine - b * sine,
               d = a * sine + b * cosine;  // (heads, length, d_k / 2) each
  return halves ? concat({c, d}, -1) : reshape(stack({c, d}, -1), x.shape());  // as x
}

struct LlamaByName {
  const WeightFiles& files;
  const TransformerOptions& o;
  LlamaConventions how = {};

  Tensor tensor(const std::string& name) const {
    const Tensor result = Tensor::empty(files[name].shape);
    files.read(name, result);
    return result;
  }

  // A map is stored (out, in).
  Tensor mapped(const Tensor& x, const std::string& name) const {
    const Tensor map = tensor(name);  // (out, in)
    const bool as_stored = name.ends_with("q_proj.weight") && !how.query_stored_out_in;
    return matmul(x, as_stored ? map : transpose(map));  // (length, out)
  }

  Tensor normed(const Tensor& x, const std::string& name) const {
    const Tensor y = how.centred ? x - mean(x, -1, true) : x;  // (length, d_model)
    const Tensor size = sqrt(mean(y * y, -1, true) + how.eps_factor * o.norm_eps);  // (length, 1)
    return y / size * tensor(name);  // (length, d_model)
  }

  // Each head's group: x (groups, length, d_k) -> (heads, length, d_k)
  Tensor shared(const Tensor& x) const {
    std::vector<Tensor> heads;
    const Index groups = x.size(0);
    for (Index h = 0; h < o.num_heads; ++h) {
      const Index group = how.neighbours ? h / (o.num_heads / groups) : h % groups;
      heads.push_back(slice(x, 0, group, group + 1));  // (1, length, d_k)
    }
    return concat(heads, 0);  // (heads, length, d_k)
  }

  Tensor attended(const Tensor& x, const std::string& name, LlamaPass& pass) const {
    const Index groups = o.num_key_value_heads;
    const auto rotated = [&](const Tensor& y) { return turned(y, how.layout, o.rotary.base); };
    // q (heads, length, d_k); k and v (groups, length, d_k)
    const Tensor q = rotated(split_heads(mapped(x, name + "q_proj.weight"), o.num_heads));
    const Tensor k = rotated(split_heads(mapped(x, name + "k_proj.weight"), groups));
    const Tensor v = split_heads(mapped(x, name + "v_proj.weight"), groups);
    const double scale = how.scaled ? 1 / std::sqrt(double(q.size(-1))) : 1;
    const Tensor scores = matmul(q, transpose(shared(k))) * scale;   // (heads, length, length)
    const Tensor seen = Mask::causal().tensor(scores.shape());       // (length, length)
    const Tensor weights = softmax(where(seen, scores, -INFINITY));  // (heads, length, length)
    pass.weights.push_back(weights);
    const Tensor mixed = concat_heads(matmul(weights, shared(v)));  // (length, heads * d_k)
    return mapped(mixed, name + "o_proj.weight");                   // (length, d_model)
  }

  Tensor fed_forward(const Tensor& x, const std::string& name) const {
    Tensor gate = mapped(x, name + "gate_proj.weight");  // (length, d_ff)
    Tensor up = mapped(x, name + "up_proj.weight");      // (length, d_ff)
    if (how.swapped) std::swap(gate, up);
    const Tensor open = how.gelu ? gelu(gate) : silu(gate);  // (length, d_ff)
    return mapped(open * up, name + "down_proj.weight");     // (length, d_model)
  }

  LlamaPass operator()(const Indices& ids) const {
    LlamaPass pass;
    const Tensor words = tensor("model.embed_tokens.weight");  // (vocab_size, d_model)
    Tensor x = embedding(words, ids);                          // (length, d_model)
    for (Index i = 0; i < o.num_layers; ++i) {
      const std::string layer = "model.layers." + std::to_string(i) + ".";
      x = x + attended(normed(x, layer + "input_layernorm.weight"), layer + "self_attn.", pass);
      x = x + fed_forward(normed(x, layer + "post_attention_layernorm.weight"), layer + "mlp.");
    }
    pass.logits = matmul(normed(x, "model.norm.weight"), transpose(words));  // (length, vocab_size)
    return pass;
  }
};

}  // namespace tapestry
