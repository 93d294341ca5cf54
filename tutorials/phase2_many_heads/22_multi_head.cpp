// Step 22. Are several small heads and one wide matrix the same thing?
//
// New here: multi-head attention, twice: as a loop over heads that own small matrices, and as one
// wide matrix whose columns are those of all heads, side by side. Then by the library, and as a
// sum of what each head adds.
// Writes no picture; takes about a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "course/timing.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

struct Head {
  Tensor w_q, w_k, w_v;  // (d_model, d_k) each
};

struct Heads {
  std::vector<Head> list;
  Tensor w_o;  // (heads d_k, d_model)

  Heads(Index d_model, Index heads, Random& random) {
    const Shape narrow = {d_model, d_model / heads};  // (d_model, d_k)
    for (Index i = 0; i < heads; ++i) {
      list.push_back({init::lecun_normal(narrow, random), init::lecun_normal(narrow, random),
                      init::lecun_normal(narrow, random)});
    }
    w_o = init::lecun_normal({d_model, d_model}, random);  // (heads d_k, d_model)
  }

  // The matrices of all heads side by side: (d_model, heads d_k).
  Tensor wide(Tensor Head::* matrix) const {
    std::vector<Tensor> parts;  // (d_model, d_k) each
    for (const Head& head : list) parts.push_back(head.*matrix);
    return concat(parts, 1);  // (d_model, heads d_k)
  }
};

// softmax(q k^T / sqrt(d_k)) v, as in phase 1; leading axes are a batch. q, k, v (..., length,
// d_k), scores and weights (..., length, length).
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const double d_k = static_cast<double>(q.size(-1));
  return matmul(softmax(matmul(q, transpose(k)) / std::sqrt(d_k)), v);  // (..., length, d_k)
}

// 1. One head after the other. x (batch, length, d_model) -> the same shape.
Tensor by_loop(const Heads& heads, const Tensor& x) {
  std::vector<Tensor> outputs;  // (batch, length, d_k) each
  for (const Head& head : heads.list) {
    outputs.push_back(attend(matmul(x, head.w_q), matmul(x, head.w_k), matmul(x, head.w_v)));
  }
  return matmul(concat(outputs, -1), heads.w_o);  // (batch, length, d_model)
}

// 2. All heads at once: wide products, split, one attention over (batch, heads), concatenate.
Tensor at_once(const Heads& heads, const Tensor& x) {
  const auto number = static_cast<Index>(heads.list.size());
  // q, k and v (batch, heads, length, d_k)
  const Tensor q = split_heads(matmul(x, heads.wide(&Head::w_q)), number);
  const Tensor k = split_heads(matmul(x, heads.wide(&Head::w_k)), number);
  const Tensor v = split_heads(matmul(x, heads.wide(&Head::w_v)), number);
  return matmul(concat_heads(attend(q, k, v)), heads.w_o);  // (batch, length, d_model)
}

void copy(const Tensor& from, const Tensor& to) {
  std::copy_n(from.contiguous().data(), from.numel(), to.data());
}

// 3. The library's layer with the same weights.
MultiHeadAttention layer_with(const Heads& heads, Index d_model) {
  Random unused(0);
  MultiHeadAttention layer(d_model, static_cast<Index>(heads.list.size()), unused);
  copy(heads.wide(&Head::w_q), layer.query.weight);
  copy(heads.wide(&Head::w_k), layer.key.weight);
  copy(heads.wide(&Head::w_v), layer.value.weight);
  copy(heads.w_o, layer.output.weight);
  return layer;
}

void compare(const char* what, const Tensor& a, const Tensor& b) {
  const double difference = largest_difference(a, b);
  std::printf("%-50s %s\n", what, difference < 1e-5 ? "less than 1e-5" : "TOO MUCH");
}

void print_shapes(Index batch, Index length, Index d_model, Index number) {
  Random random(42);
  const MultiHeadAttention layer(d_model, number, random);
  const Tensor x = random.normal({batch, length, d_model});  // (batch, length, d_model)
  const Capture seen;  // keeps what the layer computes, under names
  const Tensor y = layer(x, {}, {.need_weights = true});  // (batch, length, d_model)
  std::cout << "x                    " << x.shape() << "\n"
            << "x W_Q, x W_K, x W_V  " << layer.query(x).shape() << "\n"
            << "split_heads          " << seen["query"].shape() << "\n"
            << "scores, weights      " << seen["weights"].shape() << "\n"
            << "weights v            " << seen["heads"].shape() << "\n"
            << "concat_heads         " << concat_heads(seen["heads"]).shape() << "\n"
            << "times W_O            " << y.shape() << "\n\n";
}

// The same parameters and multiplications, however many heads; but each head has its own map.
void print_counts(int length, int d_model) {
  std::printf("heads  d_k  numbers learned  products  exponentials  rows sum to 1\n");
  for (const int number : {1, 2, 4, 8, 16}) {
    Random random(42);
    const MultiHeadAttention layer(d_model, number, random);
    const Capture seen;
    layer(random.normal({2, length, d_model}), {}, {.need_weights = true});  // (2, length, d_model)
    const auto learned = static_cast<int>(layer.num_parameters());
    // For one sentence: four linear maps, and in each head length^2 scores and as many weighted
    // values, of d_k products each. Softmax takes one exponential for each score.
    const int d_k = d_model / number, maps = number * length * length;
    const int products = length * learned + 2 * maps * d_k;
    const Tensor sums = sum(seen["weights"], -1);  // (2, number, length)
    std::printf("%5d %4d %16d %9d %13d  %s\n", number, d_k, learned, products, maps,
                largest_difference(sums, Tensor::ones(sums.shape())) < 1e-5 ? "yes" : "NO");
  }
}

// Counts are not times.
void print_times(int length, int d_model) {
  use_threads(1);
  std::printf("\n4. d_model %d, %d words, one thread: milliseconds for a forward pass\n", d_model,
              length);
  std::printf("heads   fused  with weights stored  numbers stored\n");
  for (const int number : {1, 4, 16}) {
    Random random(1);
    const MultiHeadAttention layer(d_model, number, random);
    const Tensor x = random.normal({length, d_model});  // (length, d_model)
    const double fused = processor_seconds([&] { (void)layer(x); }, 5);
    const Capture seen;
    const double stored = processor_seconds([&] { (void)layer(x, {}, {.need_weights = true}); }, 5);
    std::printf("%5d %7.2f %20.2f %15d\n", number, 1e3 * fused, 1e3 * stored,
                number * length * length);
  }
}

}  // namespace

int main() {
  constexpr Index batch = 2, length = 10, d_model = 64, number = 4;
  std::printf("Step 22: several heads as one matrix (takes about a second)\n\n");
  Random random(42);
  const Heads heads(d_model, number, random);
  const Tensor x = random.normal({batch, length, d_model});  // (batch, length, d_model)
  const Tensor loop = by_loop(heads, x);                     // (batch, length, d_model)
  const MultiHeadAttention layer = layer_with(heads, d_model);

  std::cout << "1. Four heads, " << x.shape() << " -> " << loop.shape()
            << "\n   Differs from the loop over heads by\n";
  compare("one wide matrix, split into heads", at_once(heads, x), loop);
  compare("the library's MultiHeadAttention", layer(x), loop);
  Tensor total = Tensor::zeros(x.shape());  // (batch, length, d_model)
  for (Index i = 0; i < number; ++i) total = total + layer.head(i)(x);
  compare("the sum of each head alone, with its rows of W_O", total, loop);

  std::printf("\n2. The shapes on the way: batch 2, 10 words, d_model 64, 4 heads\n");
  print_shapes(batch, length, d_model, number);
  std::printf("   and: batch 32, 128 words, d_model 512, 8 heads\n");
  print_shapes(32, 128, 512, 8);

  std::printf("3. d_model 64, 10 words: what more heads cost\n");
  print_counts(length, d_model);
  print_times(512, d_model);
}
