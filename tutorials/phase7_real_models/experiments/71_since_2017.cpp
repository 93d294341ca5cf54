// An experiment for step 71: do its differences hold for ten seeds? The same models and the same
// training; each seed has its own parameters at the start, and its own stories.
// Takes about seven minutes of processor time.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "course/since_2017.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/dot_plot.hpp"

using namespace tapestry;
using namespace tapestry::since_2017;

namespace {

constexpr Index seeds = 10, steps = 400;
constexpr double rate = 5e-3;

// Bits of a story above its entropy, for each seed.
std::vector<double> measure(const Stories& stories, const TransformerOptions& options) {
  std::vector<double> above;
  for (Index seed = 1; seed <= seeds; ++seed) {
    const Bits bits = bits_of(stories, trained(stories, options, seed, steps, rate).model);
    above.push_back(bits.model - bits.entropy);
  }
  return above;
}

// Their mean, smallest and largest, and the difference from those of 2017, seed by seed.
void print(const Variant& v, const std::vector<double>& above, const std::vector<double>& first) {
  std::vector<double> less;
  for (std::size_t i = 0; i < above.size(); ++i) less.push_back(above[i] - first[i]);
  const plot::MeanInterval all = plot::mean_interval(above), change = plot::mean_interval(less);
  const auto [low, high] = std::minmax_element(above.begin(), above.end());
  std::printf("%-17s %10d %7.1f %5.1f - %4.1f", v.name.c_str(), int(parameters_of(v.options)),
              all.mean, *low, *high);
  if (&above != &first) {
    std::printf(" %8.1f  %5.1f to %4.1f  %3d", change.mean, change.low, change.high,
                int(std::count_if(less.begin(), less.end(), [](double d) { return d < 0; })));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() try {
  std::printf(
      "Experiment 71_since_2017: %d steps, %d seeds; bits of a new story above its entropy\n",
      int(steps), int(seeds));
  std::printf("\n                                   bits above   difference from 2017   seeds\n");
  std::printf("                  parameters    mean       range    mean  95 %% interval better\n");
  const Stories stories;
  std::vector<double> first;
  for (const Variant& v : variants(stories.tokenizer().size())) {
    const std::vector<double> above = measure(stories, v.options);
    if (first.empty()) first = above;
    print(v, v.name == "2017" ? first : above, first);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
