// An experiment for step 6c: where the weights of translators lie, with ten seeds.
// Takes about three minutes of processor time.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/alignment.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;

struct Variant {
  const char* name;
  LstmTranslatorOptions options;
  std::vector<Alignment> found = {};
};

void print(const char* title, const std::vector<Variant>& variants, double Alignment::* column) {
  std::printf("\n%s\n", title);
  for (const Variant& variant : variants) {
    std::vector<double> values;
    for (const Alignment& a : variant.found) values.push_back(a.*column);
    std::sort(values.begin(), values.end());
    std::printf("%-26s", variant.name);
    for (const double value : values) std::printf(" %.2f", value);
    std::printf("\n");
  }
}

}  // namespace

int main() try {
  const TranslationTask task({2, 5});
  std::vector<Variant> variants = {
      {"product", {}},
      {"additive", {.is_additive = true}},
      {"product, both directions", {.both_directions = true}},
      {"additive, both directions", {.is_additive = true, .both_directions = true}},
      {"words only", {.words_only = true}},
  };
  for (Variant& variant : variants) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      variant.found.push_back(alignment(learn(variant.options, task, seed)));
    }
  }
  std::printf("Experiment 6c_alignments: 500 steps, sentences of 5 noun phrases. Ten seeds of\n");
  std::printf("each model, each line from the smallest to the largest\n");
  print("share wholly right", variants, &Alignment::sentences);
  print("mean weight on the source word that is translated", variants, &Alignment::aligned);
  print("mean weight on the word behind it", variants, &Alignment::next);
  print("mean weight on the noun that it agrees with", variants, &Alignment::agreeing);
  print("how often the translated word has the greatest weight", variants, &Alignment::top);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
