// An experiment for step 63: can a model with linear attention find a word, and what happens if it
// replaces softmax attention in a trained model? Ten seeds of small decoders, on the two tasks of
// step 61, with texts of 16 words.
// Takes about half a minute of processor time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/beyond_length.hpp"
#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/embedding.hpp"
#include "tapestry/nn/linear.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/norm.hpp"

using namespace tapestry;
using namespace tapestry::beyond_length;

namespace {

constexpr std::uint64_t seeds = 10;
constexpr Index width = 32, heads = 4;

// Causal attention of four heads, with a residual connection.
struct Layer : Module {
  LayerNorm norm;
  MultiHeadAttention attention;
  bool is_linear;

  Layer(bool linear, Random& random)
      : norm(width),
        attention(width, heads, random, {.is_causal = true, .initializer = init::lecun_normal}),
        is_linear(linear) {}

  Tensor operator()(const Tensor& x) const {  // shape of x (rows, length, width)
    const Tensor normed = norm(x);            // as x
    if (!is_linear) return x + attention(normed);
    const auto split = [&](const Linear& map) { return split_heads(map(normed), heads); };
    const Tensor mixed =
        causal_linear_attention(split(attention.query), split(attention.key),
                                split(attention.value));  // (rows, heads, length, 8)
    return x + attention.output(concat_heads(mixed));
  }

  Members members() const override { return {{"norm", norm}, {"attention", attention}}; }
};

struct Decoder : Module {
  Embedding words, positions;
  std::vector<Layer> layers;
  LayerNorm norm;
  Linear out;

  Decoder(bool linear, Random& random)
      : words(letters, width, random),
        positions(trained, width, random),
        norm(width),
        out(width, letters, random) {
    for (int i = 0; i < 2; ++i) layers.emplace_back(linear, random);
  }

  Tensor operator()(const Indices& ids) const {  // (rows, 16) -> logits (rows, 16, letters)
    Tensor x = words(ids) + positions.weight;    // (rows, 16, width)
    for (const Layer& layer : layers) x = layer(x);
    return out(norm(x));
  }

  Members members() const override {
    return {{"words", words},
            {"positions", positions},
            {"layers", layers},
            {"norm", norm},
            {"out", out}};
  }
};

void print(const char* name, const std::vector<double>& shares) {
  double sum = 0;
  for (const double one : shares) sum += one;
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  std::printf("%-40s  %5.3f     %5.3f    %5.3f\n", name, *low, sum / double(seeds), *high);
}

void compare(Task task) {
  std::vector<double> softmax, exchanged, longer, linear;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Random first(seed), second(seed);
    Decoder model(false, first), other(true, second);
    fit(model, task, seed, 300, 5e-3, "");
    softmax.push_back(share_right(model, task, trained));
    for (Layer& layer : model.layers) layer.is_linear = true;
    exchanged.push_back(share_right(model, task, trained));
    fit(model, task, seed + seeds, 100, 1e-3, "");
    longer.push_back(share_right(model, task, trained));
    fit(other, task, seed, 300, 5e-3, "");
    linear.push_back(share_right(other, task, trained));
  }
  std::printf("\n%-40s  smallest  mean     largest\n", task_names[task]);
  print("softmax attention", softmax);
  print("linear attention, the same parameters", exchanged);
  print("the same, after 100 steps more", longer);
  print("linear attention from the start", linear);
  std::fflush(stdout);
}

}  // namespace

int main() try {
  std::printf("Experiment 63_exchange: two layers of four heads of width 8, learned positions,\n");
  std::printf("300 steps, 10 seeds. Right answers at the last 8 of 16 words\n");
  compare(three_back);
  compare(latest);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
