// An experiment for step 71: does the place of the norm matter in a deeper model? With the norm
// behind, the gradient passes every norm. Two layers with the same short training
// are the control. Beside it no model at all: each token is guessed by how often it stands in the
// stories that the run of this seed reads.
// Takes about a minute and a half of processor time.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/since_2017.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;
using namespace tapestry::since_2017;

namespace {

constexpr Index steps = 150;

TransformerOptions deep(const Stories& stories, NormPlace place, Index layers) {
  TransformerOptions options = of_2017(stories.tokenizer().size());
  options.num_layers = layers;
  options.norm_place = place;
  return options;
}

void print_untrained(const Stories& stories) {
  std::printf("8 layers, in front   untrained");
  for (const Index seed : {1, 2, 3}) {
    Random random(static_cast<std::uint64_t>(seed));
    const Bits bits = bits_of(stories, Transformer(deep(stories, NormPlace::pre, 8), random));
    std::printf(" %8.1f", bits.model - bits.entropy);
  }
  std::printf("\n");
}

// Each token is counted once more than it stands there, so that none has the probability 0.
double bits_by_frequency(const Stories& stories, std::uint64_t seed) {
  const auto words = static_cast<std::size_t>(stories.tokenizer().size());
  std::vector<double> counts(words, 1);
  double all = double(words);
  for (std::uint64_t step = 1; step <= std::uint64_t{steps}; ++step) {
    Random data{seed, step};
    for (const std::int32_t token : stories.batch(rows, data).targets.values) {
      if (token >= 0) ++counts[static_cast<std::size_t>(token)], ++all;
    }
  }
  const Bits bits = bits_for(stories, [&](const Batch& b) {
    double nats = 0;
    for (const std::int32_t token : b.targets.values) {
      if (token >= 0) nats -= std::log(counts[static_cast<std::size_t>(token)] / all);
    }
    return nats;
  });
  return bits.model - bits.entropy;
}

void print_frequencies(const Stories& stories) {
  std::printf("guess by frequency            ");
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::printf(" %8.1f", bits_by_frequency(stories, seed));
  }
  std::printf("\n");
}

}  // namespace

int main() try {
  std::printf("Experiment 71_depth: %d steps; bits of a new story above its entropy\n\n",
              int(steps));
  std::printf("layers    norm       warm-up     seed 1   seed 2   seed 3\n");
  const Stories stories;
  print_untrained(stories);
  print_frequencies(stories);
  for (const Index layers : {8, 2}) {
    for (const NormPlace place : {NormPlace::post, NormPlace::pre}) {
      const TransformerOptions options = deep(stories, place, layers);
      for (const Index warmup : {15, 0}) {
        std::printf("%lld layers, %-10s %2d steps ", static_cast<long long>(layers),
                    place == NormPlace::pre ? "in front" : "behind", int(warmup));
        for (const Index seed : {1, 2, 3}) {
          const Result run = trained(stories, options, seed, steps, 5e-3, "", warmup);
          const Bits bits = bits_of(stories, run.model);
          std::printf(" %8.1f", bits.model - bits.entropy);
        }
        std::printf("\n");
        std::fflush(stdout);
      }
    }
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
