// Step 77. What does a model need to write: how much memory, and how much time?
//
// New here: a whole model with its cache (step 48), of the sizes of stories260K. What is in memory,
// computed and counted; seconds for one more token with and without the cache.
// Writes out/plots/phase7_cache.png; takes about a second.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "course/llama_options.hpp"
#include "course/storyteller_pictures.hpp"
#include "course/timing.hpp"
#include "tapestry/error.hpp"
#include "tapestry/memory.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tensor.hpp"

using namespace tapestry;

namespace {

// The sizes of stories260K. Weights that learned nothing are as fast, and take as much memory.
Transformer random_llama() {
  TransformerOptions o = llama_options(512, 64, 172, 4);
  o.num_layers = 5;
  o.num_heads = 8;
  o.max_length = 512;
  Random random(77);
  return Transformer(o, random);
}

using Caches = std::vector<KeyValueCache>;

// So many tokens behind what the caches hold. Which ones they are makes no difference here.
void read(const Transformer& model, Index tokens, Caches& caches) {
  const Indices ids({1, tokens}, std::vector<std::int32_t>(std::size_t(tokens), 7));
  (void)model.next(ids, caches, NextOf::last);  // (1, 1, vocab_size)
}

// ---- Memory

// Each block has maps of query, key, value, output, gate, up and down, and two norms.
Index weights_computed(const TransformerOptions& o) {
  const Index d_k = o.d_model / o.num_heads, maps = 2 * (o.num_heads + o.num_key_value_heads);
  return o.d_model * (o.vocab_size + o.num_layers * (maps * d_k + 3 * o.d_ff + 2) + 1);
}

Index cache_computed(const TransformerOptions& o, Index heads, Index positions) {
  return 2 * o.num_layers * heads * (o.d_model / o.num_heads) * positions * 4;
}

void print_memory(const Transformer& model) {
  const TransformerOptions& o = model.options;
  const Index counted = model.num_parameters();
  std::printf("   weights: %td computed, %td counted; %td bytes\n", weights_computed(o), counted,
              counted * 4);
  std::printf("   cache, bytes\n");
  std::printf("   positions   computed       held   in memory   without shared heads\n");
  for (const Index positions : {1, 16, 100, 256, 512}) {
    Caches caches;
    const std::size_t before = memory_stats().live_bytes;
    for (Index i = 0; i < positions; ++i) read(model, 1, caches);
    const std::size_t live = memory_stats().live_bytes - before;
    Index held = 0;
    for (const KeyValueCache& one : caches) held += one.keys.numel() + one.values.numel();
    std::printf("   %9td %10td %10td %11zu %22td\n", positions,
                cache_computed(o, o.num_key_value_heads, positions), held * 4, live,
                cache_computed(o, o.num_heads, positions));
  }
}

// ---- Speed

double seconds_reading_again(const Transformer& model, Index before) {
  const auto next = [&] {
    Caches caches;
    read(model, before + 1, caches);
  };
  return best_seconds(next, 5, 0.1);
}

// One token, behind all others. The last of these is read alone, too: it moves the cache into
// memory with room for more, as happens once in a while when a model writes.
double seconds_with_cache(const Transformer& model, Index before) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 10; ++run) {
    Caches caches;
    if (before > 1) read(model, before - 1, caches);
    read(model, 1, caches);
    best = std::min(best, seconds_of([&] { read(model, 1, caches); }));
  }
  return best;
}

void measure_speed(const Transformer& model) {
  std::vector<double> places, again, cached;  // milliseconds
  std::printf("   position   ms a token: all read again   with the cache   ratio\n");
  for (const Index before : {1, 64, 128, 256, 384, 511}) {
    places.push_back(double(before));
    again.push_back(1e3 * seconds_reading_again(model, before));
    cached.push_back(1e3 * seconds_with_cache(model, before));
    std::printf("   %8td %27.3f %16.3f %7.0f\n", before, again.back(), cached.back(),
                again.back() / cached.back());
  }
  plot::write_png(times_of_a_token(places, again, cached), "out/plots/phase7_cache.png");
}

}  // namespace

int main() try {
  std::printf("Step 77: memory and time of a model that writes (takes about a second)\n\n");
  const Transformer model = random_llama();
  std::printf("1. Memory, sizes of stories260K\n");
  print_memory(model);
  std::printf("\n2. Time, on this machine\n");
  measure_speed(model);
  std::printf("\nwrote out/plots/phase7_cache.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
