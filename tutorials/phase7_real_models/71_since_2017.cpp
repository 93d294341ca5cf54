// Step 71. What has changed in a transformer since 2017, and what is it worth?
//
// Known are the norm in front (step 27), RMS norm (28; Zhang, Sennrich 2019), rotary positions (60;
// Su et al. 2021) and grouped queries (6e; Ainslie et al. 2023). New here: a gate in the
// feed-forward layer (SwiGLU; Shazeer 2020) and tied logits (Press, Wolf 2017). Each is written out
// once and compared with the library's layer; then each is exchanged alone in the same small model,
// and all together.
// Writes out/plots/phase7_since_2017.png; takes about 40 seconds.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/since_2017.hpp"
#include "course/since_2017_pictures.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/feed_forward.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/positions.hpp"
#include "tapestry/nn/rms_norm.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;
using namespace tapestry::since_2017;

namespace {

constexpr Index steps = 400;
constexpr double rate = 5e-3;

// ---- Written out

// x (rows, width), gain (width): each row divided by the root of the mean of its squares.
Tensor rms_by_hand(const Tensor& x, const Tensor& gain) {
  Tensor y = Tensor::zeros(x.shape());  // (rows, width)
  for (Index row = 0; row < x.size(0); ++row) {
    double squares = 0;
    for (Index i = 0; i < x.size(1); ++i) squares += std::pow(double{x.at({row, i})}, 2);
    const double root = std::sqrt(squares / double(x.size(1)) + 1e-5);
    for (Index i = 0; i < x.size(1); ++i) {
      y.set({row, i}, double{x.at({row, i})} / root * double{gain.at({i})});
    }
  }
  return y;
}

// Each of the d_ff numbers of `up` is multiplied by its gate, silu(g): about g where g is large,
// about 0 where it is very negative, never below -0.28.
Tensor swiglu_by_hand(const FeedForward& layer, const Tensor& x) {
  const Tensor gate = matmul(x, layer.gate->weight);  // (rows, d_ff)
  const Tensor up = matmul(x, layer.up.weight);       // (rows, d_ff)
  Tensor between = Tensor::zeros(up.shape());         // (rows, d_ff)
  for (Index row = 0; row < up.size(0); ++row) {
    for (Index i = 0; i < up.size(1); ++i) {
      const double g = double{gate.at({row, i})};
      const double silu = g / (1 + std::exp(-g));
      between.set({row, i}, silu * double{up.at({row, i})});
    }
  }
  return matmul(between, layer.down.weight);  // (rows, width)
}

// x (positions, width): numbers i and i + width / 2 are a point, which position m rotates.
Tensor rotary_by_hand(const Tensor& x) {
  Tensor y = Tensor::zeros(x.shape());  // (positions, width)
  const Index half = x.size(1) / 2;
  for (Index m = 0; m < x.size(0); ++m) {
    for (Index i = 0; i < half; ++i) {
      const double angle = double(m) / std::pow(1e4, double(i) / double(half));
      const double a = double{x.at({m, i})}, b = double{x.at({m, i + half})};
      y.set({m, i}, a * std::cos(angle) - b * std::sin(angle));
      y.set({m, i + half}, a * std::sin(angle) + b * std::cos(angle));
    }
  }
  return y;
}

// x (length, d_model): query heads 0 to 3 read the keys and values of group 0, 4 to 7 of group 1.
Tensor grouped_by_hand(const MultiHeadAttention& layer, const Tensor& x) {
  const Index heads = layer.num_heads, d_k = layer.query.weight.size(1) / heads;
  const Tensor queries = layer.query(x), keys = layer.key(x), values = layer.value(x);
  std::vector<Tensor> outputs;
  for (Index head = 0; head < heads; ++head) {
    const Index group = head / (heads / layer.num_key_value_heads);
    const auto part = [&](const Tensor& all, Index at) {  // (length, d_k)
      return slice(all, 1, at * d_k, (at + 1) * d_k);
    };
    outputs.push_back(attention(part(queries, head), part(keys, group), part(values, group),
                                Mask::causal())
                          .output);  // (length, d_k)
  }
  return layer.output(concat(outputs, 1));  // (length, d_model)
}

// The residual stream itself is never normalised.
Tensor in_front_by_hand(const TransformerBlock& block, const Tensor& x) {
  const Tensor middle = x + block.attention(block.attention_norm(x));  // (1, length, d_model)
  return middle + (*block.feed_forward)((*block.feed_forward_norm)(middle));  // the same
}

// The logit of a word: how well the last row fits the row with which that word is read.
Tensor tied_by_hand(const Transformer& model, const Tensor& x) {
  const Tensor row = (*model.norm)(x);                           // (1, d_model)
  Tensor logits = Tensor::zeros({1, model.options.vocab_size});  // (1, words)
  for (Index word = 0; word < logits.size(1); ++word) {
    const Tensor learned = slice(model.token_embedding.weight, 0, word, word + 1);  // (1, d_model)
    logits.set({0, word}, double{sum(row * learned).item()});
  }
  return logits;
}

void print_error(const char* name, const Tensor& by_hand, const Tensor& layer) {
  const double error = largest_difference(by_hand, layer);
  std::printf("   %-18s %s\n", name, error < 1e-5 ? "less than 1e-5" : "TOO MUCH");
}

void compare_by_hand() {
  std::printf("1. Written out, and the library's layer, differ by\n");
  Random random(1);
  const Tensor x = random.normal({7, 32});  // (length, d_model)
  RmsNorm norm(32);
  norm.weight = random.normal({32}, 1, 0.5);  // (32)
  print_error("RMS norm", rms_by_hand(x, norm.weight), norm(x));
  const FeedForward gated(32, random,
                          {.d_ff = 40,
                           .activation = Activation::silu,
                           .bias = false,
                           .initializer = init::lecun_normal,
                           .gated = true});
  print_error("SwiGLU", swiglu_by_hand(gated, x), gated(x));
  print_error("rotary positions", rotary_by_hand(x), rotary(x, RotaryLayout::half_split));
  const MultiHeadAttention grouped(
      32, 8, random,
      {.num_key_value_heads = 2, .is_causal = true, .initializer = init::lecun_normal});
  print_error("grouped queries", grouped_by_hand(grouped, x), grouped(x));
  const TransformerBlock block(32, 4, random);
  const Tensor batch = unsqueeze(x, 0);  // (1, length, d_model)
  print_error("norm in front", in_front_by_hand(block, batch), block(batch));
  const Transformer tied({.vocab_size = 50, .d_model = 32, .tied_logits = true}, random);
  const Tensor last = slice(x, 0, 6, 7);  // (1, d_model)
  print_error("tied logits", tied_by_hand(tied, last), tied.read_out(last));
}

// What the two norms make of a row, of its double, and of the row plus 3.
void print_norms() {
  std::printf("\n2. A row, its double, and the row + 3\n");
  const Tensor row({1, 4}, {1, 2, -1, 0});  // (1, 4)
  const Tensor ones = Tensor::ones({4}), zeros = Tensor::zeros({4});
  for (const Tensor& x : {row, 2 * row, row + 3}) {
    std::printf("   layer norm");
    for (const real y : layer_norm(x, ones, zeros).values()) std::printf(" %5.2f", double{y});
    std::printf("     RMS norm");
    for (const real y : rms_norm(x, ones).values()) std::printf(" %5.2f", double{y});
    std::printf("\n");
  }
}

// ---- Trained

// Numbers that a model keeps for each token while it writes: keys and values of all layers.
Index kept_per_token(const TransformerOptions& o) {
  const Index groups = o.num_key_value_heads > 0 ? o.num_key_value_heads : o.num_heads;
  return o.num_layers * 2 * groups * o.d_model / o.num_heads;
}

std::vector<NamedLosses> train_all(const Stories& stories) {
  std::printf("\n4. Trained for %d steps of %d stories\n", int(steps), int(rows));
  std::printf("%-18s %5s %11s %15s %15s %14s %15s\n", "", "d_ff", "parameters", "kept per token",
              "bits per story", "above entropy", "words repeated");
  std::vector<NamedLosses> table;
  double entropy = 0;
  for (const Variant& v : variants(stories.tokenizer().size())) {
    const Result run = trained(stories, v.options, 1, steps, rate, v.name);
    const Bits bits = bits_of(stories, run.model);
    entropy = bits.entropy;
    std::printf("%-18s %5d %11d %15d %15.1f %14.1f %15.1f\n", v.name.c_str(), int(v.options.d_ff),
                int(run.model.num_parameters()), int(kept_per_token(v.options)), bits.model,
                bits.model - entropy, bits.again);
    table.push_back({v.name, run.losses});
  }
  std::printf("%-18s %48.1f\n", "entropy", entropy);
  return table;
}

}  // namespace

int main() try {
  std::printf("Step 71: what has changed since 2017 (takes about 40 seconds)\n\n");
  compare_by_hand();
  print_norms();
  const Stories stories;
  Random random(3);
  const Story one = story(random);
  std::printf("\n3. A story of %.1f bits, in %d tokens\n%s", one.bits,
              int(stories.tokenizer().encode(one.text).shape[0]), one.text.c_str());
  const std::vector<NamedLosses> runs = train_all(stories);
  const char* const ten_seeds =
      "tutorials/phase7_real_models/experiments/71_since_2017.txt";  // what the experiment kept
  plot::write_png(losses_and_seeds(runs, ten_seeds), "out/plots/phase7_since_2017.png");
  std::printf("\nWrote out/plots/phase7_since_2017.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
