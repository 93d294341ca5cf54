// Step 6e. Must every head have keys and values of its own?
//
// New here: heads that share keys and values: multi-query attention (Shazeer 2019), grouped-query
// attention (Ainslie et al. 2023). Written out, inside a layer, and how small the cache gets. (What
// sharing costs in training is measured by experiments/6e_sharing.cpp.)
// Writes no picture; takes less than a second.
#include <cmath>
#include <cstdio>
#include <vector>

#include "tapestry/attention_variants.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/multi_head_attention.hpp"
#include "tapestry/ops.hpp"

using namespace tapestry;

namespace {

// q (heads, queries, d), k and v (groups, keys, d): head h reads group h / (heads / groups).
Tensor written_out(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Index heads = q.size(0), groups = k.size(0);
  std::vector<Tensor> outputs;
  for (Index head = 0; head < heads; ++head) {
    const Index group = head / (heads / groups);
    const Tensor key = slice(k, 0, group, group + 1);    // (1, keys, d)
    const Tensor value = slice(v, 0, group, group + 1);  // (1, keys, d)
    const Tensor scores = matmul(slice(q, 0, head, head + 1), transpose(key)) /
                          std::sqrt(double(q.size(-1)));  // (1, queries, keys)
    outputs.push_back(matmul(softmax(scores), value));    // (1, queries, d)
  }
  return concat(outputs, 0);  // (heads, queries, d)
}

void compare() {
  Random random(1);
  const Tensor q = random.normal({8, 5, 16});  // (8, 5, 16)
  std::printf("1. Eight heads, written out, and grouped_attention() differ by\n");
  for (const Index groups : {8, 2, 1}) {
    const Tensor k = random.normal({groups, 7, 16}), v = random.normal({groups, 7, 16});
    const double error = largest_difference(written_out(q, k, v), grouped_attention(q, k, v));
    std::printf("   %d heads of keys and values: %s\n", int(groups),
                error < 1e-5 ? "less than 1e-5" : "TOO MUCH");
  }
}

// Inside a layer only the maps of keys and values become narrower.
void print_layer() {
  std::printf(
      "\n2. A layer of width 64 with 8 heads: shapes of its maps, and its cache after 5 words\n");
  for (const Index groups : {8, 2, 1}) {
    Random random(2);
    const MultiHeadAttention layer(64, 8, random,
                                   {.num_key_value_heads = groups, .is_causal = true});
    KeyValueCache cache;
    (void)layer(random.normal({1, 5, 64}), {}, {.cache = &cache});  // (1, 5, 64)
    std::printf(
        "   query %s  key %s  value %s  cached keys %s\n",
        to_string(layer.query.weight.shape()).c_str(), to_string(layer.key.weight.shape()).c_str(),
        to_string(layer.value.weight.shape()).c_str(), to_string(cache.keys.shape()).c_str());
  }
}

// 32 layers, 32 heads of width 128, numbers of 16 bits: a model of about 7 billion parameters.
void print_cache() {
  std::printf("\n3. The cache of a model of 32 layers with 32 heads of width 128, in 16 bits\n");
  std::printf("   heads of keys and values   a position   a text of 8192\n");
  for (const int groups : {32, 8, 1}) {
    const double bytes = 2.0 * 32 * groups * 128 * 2;  // keys and values, layers, heads, width
    std::printf("   %2d                         %6.0f KiB   %6.0f MiB\n", groups, bytes / 1024,
                bytes * 8192 / 1024 / 1024);
  }
}

}  // namespace

int main() try {
  std::printf("Step 6e: heads that share keys and values (takes less than a second)\n\n");
  compare();
  print_layer();
  print_cache();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
