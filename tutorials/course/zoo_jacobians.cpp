// Jacobians of the zoo: which outputs of a causal layer depend on which inputs, by the tape.
#include <functional>

#include "course/zoo.hpp"
#include "tapestry/analysis/jacobian.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

constexpr Index length = 6, d_model = 8, heads = 2, d_k = d_model / heads;
const Words words = {"the", "cat", "sat", "on", "the", "mat"};

MultiHeadAttention fresh_layer() {
  Random random(7);
  return MultiHeadAttention(d_model, heads, random,
                            {.is_causal = true, .initializer = init::xavier_uniform});
}

using Function = std::function<Tensor(const MultiHeadAttention& layer, const Tensor& x)>;

Tensor norms_of(const Function& f) {
  const MultiHeadAttention layer = fresh_layer();
  Random random(8);
  const Tensor x = random.normal({length, d_model});                         // (6, 8)
  return jacobian_norms([&](const Tensor& at) { return f(layer, at); }, x);  // (6, 6)
}

Tensor plain(const MultiHeadAttention& layer, const Tensor& x) { return layer(x); }  // (6, 8)

Tensor cut(const Tensor& x) { return reshape(x, {heads, length, d_k}); }  // no transpose

// Heads of rows that were cut wrongly, (heads, length, d_k).
Tensor mixed(const MultiHeadAttention& layer, const Tensor& x) {
  const Tensor q = cut(layer.query(x)), k = cut(layer.key(x)), v = cut(layer.value(x));
  return attention(q, k, v, Mask::causal()).output;
}

ZooPair cut_wrongly() {
  const auto f = [](const MultiHeadAttention& layer, const Tensor& x) {
    return layer.output(concat_heads(mixed(layer, x)));  // (6, 8)
  };
  return {norms_of(f), norms_of(plain)};
}

ZooPair cut_and_joined_wrongly() {
  const auto f = [](const MultiHeadAttention& layer, const Tensor& x) {
    return layer.output(reshape(mixed(layer, x), {length, d_model}));  // (6, 8)
  };
  return {norms_of(f), norms_of(plain)};
}

// Numbers less their mean, divided by their deviation, along one axis.
Tensor normed(const Tensor& x, int axis) {
  return (x - mean(x, axis, true)) / sqrt(var(x, axis, true) + 1e-5);  // (6, 8)
}

ZooPair norm_over_positions() {
  const auto over = [](int axis) {
    return norms_of([=](const MultiHeadAttention& layer, const Tensor& x) {
      return layer(normed(x, axis));  // (6, 8)
    });
  };
  return {over(0), over(1)};
}

// The layer wants (batch, length, d_model) and gets (length, batch, d_model).
ZooPair batch_and_length_exchanged() {
  const auto f = [](const MultiHeadAttention& layer, const Tensor& x) {
    return reshape(layer(reshape(x, {length, 1, d_model})), {length, d_model});  // (6, 8)
  };
  return {norms_of(f), norms_of(plain)};
}

// One word after the other. The keys and values of each are kept once it is done: too late.
Tensor kept_too_late(const MultiHeadAttention& layer, const Tensor& x) {
  const Tensor q = split_heads(layer.query(x), heads), k = split_heads(layer.key(x), heads),
               v = split_heads(layer.value(x), heads);  // (heads, length, d_k)
  std::vector<Tensor> outputs = {Tensor::zeros({heads, 1, d_k})};
  for (Index i = 1; i < length; ++i) {
    const Tensor keys = slice(k, 1, 0, i), values = slice(v, 1, 0, i);         // (heads, i, d_k)
    outputs.push_back(attention(slice(q, 1, i, i + 1), keys, values).output);  // (heads, 1, d_k)
  }
  return layer.output(concat_heads(concat(outputs, 1)));  // (6, 8)
}

ZooPair own_word_missing() { return {norms_of(kept_too_late), norms_of(plain)}; }

const std::vector<ZooCase> cases = {
    {"jacobian1", ZooKind::jacobian,
     "The map of the weights has nothing above its diagonal. Is the layer causal?",
     "The rows were cut into heads by reshape alone, without the transpose, and joined rightly.",
     "There are derivatives above the diagonal: the first output depends on the fourth word. A "
     "row of a head is half of a word, so the mask hides something else than later words.",
     words, cut_wrongly},
    {"jacobian2", ZooKind::jacobian,
     "A norm, and then attention under the right mask. Where does the future come in?",
     "The norm ran over the positions, in place of over the numbers of each position.",
     "No cell is crossed: mean and deviation are made of all words, later ones too, before "
     "the mask can hide any.",
     words, norm_over_positions},
    {"jacobian3", ZooKind::jacobian, "Nothing leaks from the future. Is all well?",
     "Batch and length were exchanged: the layer takes (batch, length, width) and was given "
     "(length, batch, width).",
     "Only the diagonal is left: each word was taken for a text of its own, and sees itself "
     "alone. A test of causality passes.",
     words, batch_and_length_exchanged},
    {"jacobian4", ZooKind::jacobian, "Causal again. What is missing?",
     "Reshape alone cut the rows into heads, and reshape alone joined the heads.",
     "The last three outputs depend on nothing before the fourth word: each of the two heads "
     "holds one half of the text. Shapes are right, and a test of causality passes.",
     words, cut_and_joined_wrongly},
    {"jacobian5", ZooKind::jacobian,
     "A layer with a cache of keys and values, one word after the other. Look at the first two "
     "rows.",
     "The key and value of a word came into the cache only after the word had attended.",
     "The first output depends on nothing, and the second on the first word alone: it sees one "
     "key only, whose weight is 1, whatever its query says. Later outputs depend on their own word "
     "too, but only through its query.",
     words, own_word_missing},
};

}  // namespace

std::vector<ZooCase> zoo_jacobians() { return cases; }

}  // namespace tapestry
