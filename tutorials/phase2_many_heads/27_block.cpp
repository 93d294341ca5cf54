// Step 27. What is inside a transformer?
//
// New here: a transformer written out in operations: layer norm from its formula, attention as in
// step 22, the residual connections, the feed-forward layer; then the whole model. Each part is
// compared with the library's layer, and so are the gradients.
// Writes no picture; takes less than a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <variant>

#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

// ---- The parts. The library's layers only hold the numbers; nothing of them is called.

// Each row: minus its mean, divided by its standard deviation; then a learned gain and shift.
// x (..., d_model) -> (..., d_model)
Tensor normalized(const Tensor& x, const NormLayer& layer) {
  const LayerNorm& norm = std::get<LayerNorm>(layer.layer);
  const Tensor centred = x - mean(x, -1, true);                 // (..., d_model)
  const Tensor variance = mean(centred * centred, -1, true);    // (..., 1)
  const Tensor standard = centred / sqrt(variance + norm.eps);  // (..., d_model)
  return standard * norm.weight + norm.bias;                    // (..., d_model)
}

// x (batch, length, d_model) -> the same shape; no position sees a later one
Tensor attended(const Tensor& x, const MultiHeadAttention& layer) {
  const Tensor q = split_heads(matmul(x, layer.query.weight), layer.num_heads);
  const Tensor k = split_heads(matmul(x, layer.key.weight), layer.num_heads);
  const Tensor v = split_heads(matmul(x, layer.value.weight), layer.num_heads);
  const Tensor mixed = attention(q, k, v, Mask::causal()).output;  // (batch, heads, length, d_k)
  return matmul(concat_heads(mixed), layer.output.weight);         // (batch, length, d_model)
}

// Each position alone: to four times as many numbers, a curve, and back. x (..., d_model) -> same
Tensor transformed(const Tensor& x, const FeedForward& layer) {
  const Tensor wide = gelu(matmul(x, layer.up.weight) + layer.up.bias);  // (..., 4 d_model)
  return matmul(wide, layer.down.weight) + layer.down.bias;              // (..., d_model)
}

// x (batch, length, d_model) -> the same shape
Tensor block(const Tensor& x, const TransformerBlock& b) {
  const Tensor middle = x + attended(normalized(x, b.attention_norm), b.attention);
  return middle + transformed(normalized(middle, *b.feed_forward_norm), *b.feed_forward);
}

// ids (batch, length) -> logits (batch, length, vocab_size)
Tensor transformer(const Indices& ids, const Transformer& model) {
  const Tensor words = embedding(model.token_embedding.weight, ids);  // (batch, length, d_model)
  Tensor x = words + slice(model.position_embedding->weight, 0, 0, ids.shape[-1]);
  for (const TransformerBlock& b : model.blocks) x = block(x, b);  // (batch, length, d_model)
  return matmul(normalized(x, *model.norm), model.lm_head.weight);
}

// ---- What they do

void norm_of_rows() {
  const Tensor x({3, 4}, {1, 2, 3, 6, 10, 20, 30, 60, 101, 102, 103, 106});  // (3, 4)
  std::cout << "1. Layer norm of three rows, gain 1 and shift 0\nrows\n"
            << to_string(x, 0) << "\nnormalised\n"
            << to_string(normalized(x, NormLayer(NormKind::layer, 4)), 3) << "\n\n";
}

// Other numbers in all parameters: gains of 1 and biases of 0 would hide a mistake.
void scramble(const Parameters& parameters) {
  Random random(7);
  for (const Parameter& parameter : parameters) {
    for (Index i = 0; i < parameter.value.numel(); ++i) {
      parameter.value.data()[i] += static_cast<real>(0.1 * random.normal());
    }
  }
}

void print_difference(const char* what, const Tensor& ours, const Tensor& library) {
  const double size = max(abs(library)).item();
  const double difference = largest_difference(ours, library) / size;
  std::printf("%-24s %s\n", what, difference < 1e-5 ? "less than 1e-5" : "MORE THAN 1e-5");
}

void compare_parts(const Transformer& model, Random& random) {
  const TransformerBlock& b = model.blocks[0];
  const Tensor x = random.normal({2, 6, 16});  // (2, 6, 16)
  std::printf("2. Differs from the library's layer by, relative to the largest number\n");
  print_difference("layer norm", normalized(x, b.attention_norm), b.attention_norm(x));
  print_difference("attention", attended(x, b.attention), b.attention(x));
  print_difference("feed-forward", transformed(x, *b.feed_forward), (*b.feed_forward)(x));
  print_difference("block", block(x, b), b(x));
}

void compare_whole(const Transformer& model, const Indices& ids, const Indices& targets) {
  print_difference("transformer", transformer(ids, model), model(ids));
  const Parameters parameters = model.parameters();
  Tape one(parameters);
  const Gradients ours = one.backward(cross_entropy(transformer(ids, model), targets));
  Tape other(parameters);
  const Gradients library = other.backward(cross_entropy(model(ids), targets));
  double worst = 0, largest = 0;
  for (const Parameter& parameter : parameters) {
    worst = std::max(worst, largest_difference(ours[parameter.value], library[parameter.value]));
    largest = std::max(largest, double{max(abs(library[parameter.value])).item()});
  }
  std::printf("%-24s %s\n\n", "gradients of all",
              worst / largest < 1e-5 ? "less than 1e-5" : "MORE THAN 1e-5");
}

}  // namespace

int main() try {
  std::printf("Step 27: a transformer block, built (takes less than a second)\n\n");
  norm_of_rows();
  Random random(42);
  const Transformer model({.vocab_size = 22, .max_length = 8, .d_model = 16, .num_heads = 4},
                          random);
  scramble(model.parameters());
  const Indices ids({2, 6}, {1, 4, 2, 9, 9, 3, 0, 7, 21, 5, 2, 2});      // (2, 6)
  const Indices targets({2, 6}, {4, 2, 9, 9, 3, 8, 7, 21, 5, 2, 2, 0});  // (2, 6)
  compare_parts(model, random);
  compare_whole(model, ids, targets);
  std::cout << "3. What a model of d_model 16 with two blocks learns\n" << model.summary();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
