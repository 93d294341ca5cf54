// An experiment for step 71: does three times the training change its differences?
// Takes about seven minutes of processor time.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "course/since_2017.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;
using namespace tapestry::since_2017;

int main() try {
  constexpr Index seeds = 4, steps = 1200;
  std::printf(
      "Experiment 71_budgets: %d steps, %d seeds; bits of a new story above its entropy\n\n",
      int(steps), int(seeds));
  std::printf("                     mean       range\n");
  const Stories stories;
  for (const Variant& v : variants(stories.tokenizer().size())) {
    std::vector<double> above;
    double sum = 0;
    for (Index seed = 1; seed <= seeds; ++seed) {
      const Bits bits = bits_of(stories, trained(stories, v.options, seed, steps, 5e-3).model);
      above.push_back(bits.model - bits.entropy);
      sum += above.back();
    }
    const auto [low, high] = std::minmax_element(above.begin(), above.end());
    std::printf("%-18s %6.1f %5.1f - %4.1f\n", v.name.c_str(), sum / double(seeds), *low, *high);
    std::fflush(stdout);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
