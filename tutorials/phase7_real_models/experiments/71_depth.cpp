// An experiment for step 71: does the place of the norm matter in a deeper model? With the norm
// behind, the gradient passes every norm on its way back.
// Takes about a minute of processor time.
#include <cstdio>

#include "course/since_2017.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;
using namespace tapestry::since_2017;

namespace {

TransformerOptions deep(const Stories& stories, NormPlace place) {
  TransformerOptions options = of_2017(stories.tokenizer().size());
  options.num_layers = 8;
  options.norm_place = place;
  return options;
}

void print_untrained(const Stories& stories) {
  std::printf("in front   untrained");
  for (const Index seed : {1, 2, 3}) {
    Random random(static_cast<std::uint64_t>(seed));
    const Bits bits = bits_of(stories, Transformer(deep(stories, NormPlace::pre), random));
    std::printf(" %8.1f", bits.model - bits.entropy);
  }
  std::printf("\n");
}

}  // namespace

int main() try {
  constexpr Index steps = 150;
  std::printf("Experiment 71_depth: 8 layers, %d steps; bits of a new story above its entropy\n\n",
              int(steps));
  std::printf("norm       warm-up     seed 1   seed 2   seed 3\n");
  const Stories stories;
  print_untrained(stories);
  for (const NormPlace place : {NormPlace::post, NormPlace::pre}) {
    const TransformerOptions options = deep(stories, place);
    for (const Index warmup : {15, 0}) {
      std::printf("%-10s %2d steps ", place == NormPlace::pre ? "in front" : "behind", int(warmup));
      for (const Index seed : {1, 2, 3}) {
        const Result run = trained(stories, options, seed, steps, 5e-3, "", warmup);
        const Bits bits = bits_of(stories, run.model);
        std::printf(" %8.1f", bits.model - bits.entropy);
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
