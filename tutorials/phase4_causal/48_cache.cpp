// Step 48. How does a model write without reading its text again for each word?
//
// New here: the key/value cache, written out. Under a causal mask the keys and values of earlier
// words never change. So they are kept; for a new word there is one query, one more key and one
// more value. Compared with the whole computation and with the library's cache; timed; and where
// it fails: without the mask.
// Writes no picture; takes less than a second.
#include <cmath>
#include <cstdio>
#include <vector>

#include "course/timing.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/random.hpp"

using namespace tapestry;

namespace {

constexpr Index length = 8, d_model = 16, heads = 4;

// What is kept of the words read so far.
struct Kept {
  std::vector<Tensor> keys, values;  // (heads, 1, d_k) of each word
};

// The layer's output for one more word: x (1, d_model) -> (1, d_model).
Tensor next_word(const MultiHeadAttention& layer, const Tensor& x, Kept& kept) {
  kept.keys.push_back(split_heads(layer.key(x), heads));              // (heads, 1, d_k)
  kept.values.push_back(split_heads(layer.value(x), heads));          // (heads, 1, d_k)
  const Tensor q = split_heads(layer.query(x), heads);                // (heads, 1, d_k)
  const Tensor k = concat(kept.keys, 1), v = concat(kept.values, 1);  // (heads, words, d_k)
  const Tensor scores = matmul(q, transpose(k)) / std::sqrt(double{d_model / heads});
  return layer.output(concat_heads(matmul(softmax(scores), v)));  // (1, d_model)
}

Tensor word_by_word(const MultiHeadAttention& layer, const Tensor& x) {
  Kept kept;
  std::vector<Tensor> rows;  // (1, d_model) each
  for (Index i = 0; i < length; ++i) rows.push_back(next_word(layer, slice(x, 0, i, i + 1), kept));
  return concat(rows, 0);  // (length, d_model)
}

Tensor with_library(const MultiHeadAttention& layer, const Tensor& x) {
  KeyValueCache cache;
  std::vector<Tensor> rows;  // (1, d_model) each
  for (Index i = 0; i < length; ++i) {
    const Tensor row = unsqueeze(slice(x, 0, i, i + 1), 0);  // (1, 1, d_model)
    rows.push_back(squeeze(layer(row, {}, {.cache = &cache}), 0));
  }
  return concat(rows, 0);  // (length, d_model)
}

void print_difference(const char* what, const Tensor& a, const Tensor& b) {
  const double difference = largest_difference(a, b);
  if (difference < 1e-5) {
    std::printf("%-44s less than 1e-5\n", what);
  } else {
    std::printf("%-44s %.2f\n", what, difference);
  }
}

void print_costs() {
  std::printf(
      "\n2. To write a text of L words: how many queries, keys and values are computed, and\n");
  std::printf("   how many scores, in each head of each layer; and how many numbers are kept\n");
  std::printf("       L   rows again   rows kept   scores again   scores kept   numbers kept\n");
  for (const long long words : {8, 128, 1024}) {
    long long rows = 0, all = 0, scores = 0;
    for (long long now = 1; now <= words; ++now) {
      rows += now;
      all += now * (now + 1) / 2;  // of the pairs that the mask shows
      scores += now;
    }
    std::printf("%8lld %12lld %11lld %14lld %13lld %14lld\n", words, rows, words, all, scores,
                2 * words * d_model / heads);
  }
}

// An untrained model of two layers (d_model 64) writes. What it writes does not matter here.
void print_times() {
  std::printf("\n3. Milliseconds (the best of three) to write a text of L words\n");
  std::printf("       L      again       kept   times as fast\n");
  Random random(7);
  const Transformer model({.vocab_size = 50, .max_length = 128}, random);
  const NextLogits again = [&](const Indices& ids) {
    return squeeze(slice(model(ids), 0, -1, ids.shape[0]), 0);  // (vocabulary)
  };
  const auto milliseconds = [&](const auto& how, Index words) {
    const auto write = [&] {
      Random draws(1);
      generate(how(), Indices({1}, {1}), draws, {.max_new_tokens = words - 1});
    };
    return 1e3 * best_seconds(write, 3, 0);
  };
  for (const Index words : {8, 32, 128}) {
    const double slow = milliseconds([&] { return again; }, words);
    const double fast = milliseconds([&] { return next_logits_of(model, 128); }, words);
    std::printf("%8td %10.1f %10.1f %10.1f\n", words, slow, fast, slow / fast);
  }
}

}  // namespace

int main() try {
  std::printf("Step 48: the key/value cache (takes less than a second)\n\n");
  Random random(7), same(7);
  const MultiHeadAttention causal(d_model, heads, random,
                                  {.is_causal = true, .initializer = init::lecun_normal});
  const MultiHeadAttention open(d_model, heads, same, {.initializer = init::lecun_normal});
  const Tensor x = random.normal({length, d_model});  // (length, d_model)
  std::printf("1. One layer, %lld words, one after the other: differs from\n",
              static_cast<long long>(length));
  const Tensor written = word_by_word(causal, x);  // (length, d_model)
  print_difference("all words at once, causal mask", written, causal(x));
  print_difference("the library's cache", written, with_library(causal, x));
  print_difference("all words at once, no mask", written, open(x));
  print_difference("   ... the last word alone", slice(written, 0, -1, length),
                   slice(open(x), 0, -1, length));
  print_costs();
  print_times();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
