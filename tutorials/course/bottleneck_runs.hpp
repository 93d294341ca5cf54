// Ten trainings of translators of step 68, and a row of a table for each kind: for its experiments.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/lstm_translator.hpp"
#include "tapestry/accuracy.hpp"
#include "tapestry/format.hpp"
#include "tapestry/progress.hpp"

namespace tapestry::bottleneck_runs {

constexpr Index fewest = 2, most = 7;                 // noun phrases of a sentence
constexpr std::array<Index, 4> shown = {3, 4, 5, 6};  // in the table

struct Setting {
  const char* name;
  LstmTranslatorOptions options;
  Index steps = 500;
};

// In % of so many held-out sentences of 2, 3, ... 7 noun phrases: those that are wholly right,
// given the right words before.
inline std::vector<double> percent_right(const LstmTranslator& model, Index sentences = 300) {
  std::vector<double> result;
  for (Index phrases = fewest; phrases <= most; ++phrases) {
    Random random(77);
    const TranslationBatch b =
        TranslationTask({phrases, phrases}).batch(Part::held_out, sentences, random);
    const Tensor logits = model(b).logits;  // (sentences, target, words)
    result.push_back(100 * double(exact_matches(logits, b.target.targets)) / double(sentences));
  }
  return result;
}

// "mean (least to most)" of what the trainings have with so many noun phrases.
inline std::string summary(const std::vector<std::vector<double>>& trainings, Index phrases) {
  std::vector<double> shares;
  double sum = 0;
  for (const std::vector<double>& training : trainings) {
    shares.push_back(training[static_cast<std::size_t>(phrases - fewest)]);
    sum += shares.back();
  }
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  return formatted("%3.0f (%.0f to %.0f)", sum / double(shares.size()), *low, *high);
}

// Trains each setting with the seeds 1, 2, ... on sentences of 2 to `longest` noun phrases, and
// prints a row.
inline void print_table(const std::vector<Setting>& settings, std::uint64_t seeds,
                        Index longest = 5) {
  std::printf("%-10s  numbers  steps ", "");
  for (const Index phrases : shown) {
    std::printf("  %-16s", formatted("%d noun phrases", int(phrases)).c_str());
  }
  std::printf("\n");
  Progress progress("training", static_cast<Index>(settings.size() * seeds), "models");
  const TranslationTask task({fewest, longest});
  for (const Setting& setting : settings) {
    std::vector<std::vector<double>> trainings;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed, progress.step()) {
      trainings.push_back(percent_right(learn(setting.options, task, seed, setting.steps)));
    }
    std::printf("%-10s  %7d  %5d ", setting.name, int(setting.options.hidden), int(setting.steps));
    for (const Index phrases : shown) {
      std::printf("  %-16s", summary(trainings, phrases).c_str());
    }
    std::printf("\n");
  }
}

}  // namespace tapestry::bottleneck_runs
