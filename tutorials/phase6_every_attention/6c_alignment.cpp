// Step 6c. Does attention show which word a word comes from?
//
// New here: two ways to score (the product of Luong et al. 2015, the sum of Bahdanau et al. 2015),
// an encoder that reads in one or in both directions, and a model in which attention is the only
// way (course/lstm_translator.hpp). The right alignment is known, so each map can be checked.
// Writes out/plots/phase6_alignment.png; takes about 20 seconds.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/alignment.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 2;

// Both scores of one state s of the decoder and one state h of the encoder, in plain numbers.
void two_scores() {
  const double s[] = {0.5, -1}, h[] = {1, 0.25}, v[] = {2, 1};
  const double w[2][2] = {{1, 0.5}, {0, 1}}, u[2][2] = {{1, 0}, {-1, 1}};
  double product = 0, added = 0;
  for (int j = 0; j < 2; ++j) {
    const double asked = s[0] * w[0][j] + s[1] * w[1][j];
    product += asked * h[j];
    added += v[j] * std::tanh(asked + h[0] * u[0][j] + h[1] * u[1][j]);
  }
  std::printf("1. One score, of s = (0.5, -1) and h = (1, 0.25)\n");
  std::printf("s W . h              (Luong et al.)     %7.4f\n", product);
  std::printf("v . tanh(s W + h U)  (Bahdanau et al.)  %7.4f\n\n", added);
}

struct Variant {
  const char* name;
  LstmTranslatorOptions options;
};

const std::vector<Variant> variants = {
    {"product", {}},
    {"additive", {.is_additive = true}},
    {"product, both directions", {.both_directions = true}},
    {"words only", {.words_only = true}},
};

// Trains and prints; returns the models of seed 1.
std::vector<LstmTranslator> compare(const TranslationTask& task) {
  std::vector<LstmTranslator> first;
  std::string table;
  Progress progress("training", Index(variants.size() * seeds), "models");
  for (const Variant& variant : variants) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed, progress.step()) {
      const LstmTranslator model = learn(variant.options, task, seed);
      const Alignment a = alignment(model);
      table += formatted("%-25s %d   %.2f     %.2f     %.2f   %.2f   %.2f    %.2f\n", variant.name,
                         int(seed), a.sentences, a.aligned, a.top, a.nouns, a.verbs, a.phrases);
      if (seed == 1) first.push_back(model);
    }
  }
  Random random(77);
  const TranslationBatch b = TranslationTask({5, 5}).batch(Part::held_out, 300, random);
  std::printf("2. Sentences of 5 noun phrases: share wholly right; mean weight on the word that\n");
  std::printf(
      "   is translated (uniform weights: %.2f), how often it is the greatest, its mean for\n",
      300 / double{sum(b.from).item()});
  std::printf(
      "   nouns and for verbs; of adjectives and prepositions, on the noun of the phrase\n");
  std::printf("                       seed  right  aligned greatest  nouns  verbs  phrase\n%s\n",
              table.c_str());
  return first;
}

plot::Heatmap alignment_map(const Tensor& weights, const Translation& one,
                            const std::string& title) {
  plot::Heatmap map = attention_heatmap(weights, one.target, one.source, title);
  map.row_axis = "says";
  map.column_axis = "looks at";
  map.colour_bar = false;
  return map;
}

void draw(const std::vector<LstmTranslator>& models) {
  const TranslationTask task({4, 4});
  Random random(5);
  const Translation one = task.sentence(Part::held_out, random);
  const TranslationBatch b = task.batch({one});
  const auto n = static_cast<Index>(one.source.size());
  const auto words_only = [&](const Tensor& w) {  // (n, n): without the row that says <eos>
    return slice(reshape(w, {n + 1, n}), 0, 0, n);
  };
  plot::Canvas canvas(1400, 1000, 1.4);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(12), 2, 2);
  plot::draw(canvas, panels[0],
             alignment_map(words_only(b.from + 0.5 * b.ends_as), one,
                           "the truth: comes from 1, agrees with 0.5"));
  const std::size_t shown[] = {0, 2, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    const LstmTranslator::Output said = models[shown[i]](b);
    const bool right = exact_matches(said.logits, b.target.targets) == 1;
    plot::draw(canvas, panels[i + 1],
               alignment_map(words_only(said.weights), one,
                             std::string(variants[shown[i]].name) +
                                 (right ? ": all right" : ": some wrong")));
  }
  plot::write_png(canvas, "out/plots/phase6_alignment.png");
  std::printf("wrote out/plots/phase6_alignment.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 6c: alignment (takes about 20 seconds)\n\n");
  two_scores();
  draw(compare(TranslationTask({2, 5})));
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
