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
    std::printf("%-26s", variant.name);
    for (const Alignment& a : variant.found) std::printf(" %.2f", a.*column);
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
    std::sort(variant.found.begin(), variant.found.end(),
              [](const Alignment& a, const Alignment& b) { return a.aligned < b.aligned; });
  }
  std::printf("Experiment 6c_alignments: 500 steps, sentences of 5 noun phrases. Ten seeds of\n");
  std::printf("each model, in all tables by their weight on the word that is translated\n");
  print("share wholly right", variants, &Alignment::sentences);
  print("mean weight on the source word that is translated", variants, &Alignment::aligned);
  print("how often the translated word has the greatest weight", variants, &Alignment::top);
  print("nouns: mean weight on the translated word", variants, &Alignment::nouns);
  print("verbs: mean weight on the translated word", variants, &Alignment::verbs);
  print("adjectives and prepositions: mean weight on the noun that ends their phrase", variants,
        &Alignment::phrases);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
