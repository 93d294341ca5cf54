// Step 46. How does the model write?
//
// New here: one word at a time. The model is asked for the next word, one is drawn and put behind
// the others, and the model is asked again, until it says <eos>. Each step is shown: where the last
// position looks, and what it expects beside what the grammar would. Then other ways to draw, and
// a cache that saves work.
// Reads the model of step 43; writes out/plots/phase4_generation.png; takes about a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "course/generation_pictures.hpp"
#include "course/grammar.hpp"
#include "course/inside.hpp"
#include "tapestry/error.hpp"
#include "tapestry/generation.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

const std::string model_file = "out/checkpoints/causal_model.safetensors";
const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

Indices prompt(const std::string& text) { return vocabulary.encode("<bos> " + text); }

// Without a cache: the whole text is read again for each word.
NextLogits simple(const Transformer& model) {
  return [&model](const Indices& ids) {
    return squeeze(slice(model(ids), 0, -1, ids.shape[0]), 0);  // (vocabulary), last position
  };
}

// With a cache: only new words are read; keys and values of earlier words are kept. One text.
NextLogits cached(const Transformer& model) {
  return [&model, caches = std::vector<KeyValueCache>()](const Indices& ids) mutable {
    const Index known = caches.empty() ? 0 : caches.front().length();
    Indices fresh;
    fresh.values.assign(ids.values.begin() + known, ids.values.end());
    fresh.shape = {1, ids.shape[0] - known};
    const Tensor logits = squeeze(model.next(fresh, caches), 0);  // (new words, vocabulary)
    return squeeze(slice(logits, 0, -1, logits.size(0)), 0);      // (vocabulary)
  };
}

Words written(const Indices& ids) {  // without <bos> and <eos>
  Words words = split_words(vocabulary.decode(ids));
  words.erase(words.begin());
  if (!words.empty() && words.back() == "<eos>") words.pop_back();
  return words;
}

// The weights of the last position, mean over the heads of a layer: (1, heads, n, n) for n words.
std::vector<double> last_row(const Tensor& weights) {
  const Tensor map = mean(squeeze(weights, 0), 0);  // (n, n)
  return doubles(slice(map, 0, -1, map.size(0)));
}

void print_step(const Transformer& model, const GenerationStep& step) {
  std::printf("%-8s", "");
  for (const auto id : step.ids.values) std::printf("%8s", vocabulary.word(id).c_str());
  std::printf("  ...\n");
  const std::vector<Tensor> weights = weights_of(model, step.ids);  // (1, heads, n, n) each
  for (std::size_t layer = 0; layer < weights.size(); ++layer) {
    std::printf("layer %zu ", layer);
    for (const double weight : last_row(weights[layer])) std::printf("%8.2f", weight);
    if (layer + 1 < weights.size()) std::printf("\n");
  }
  double rest = 1;
  int in_line = 0;
  for (const auto& [word, truth] : grammar.next_word(written(step.ids))) {
    const double share = double{step.probabilities.at({vocabulary.id(word)})};
    std::printf("%s   %-7s %.2f (%.2f)", in_line++ % 3 == 0 ? "\n      " : "", word.c_str(), share,
                truth);
    rest -= share;
  }
  std::printf("\n         others  %.2f          drawn: %s\n\n", std::abs(rest),
              vocabulary.word(step.chosen).c_str());
}

void step_by_step(const Transformer& model) {
  std::printf(
      "1. \"the cat\", and what the model makes of it. Where the last word looks (mean of\n"
      "   heads), and how probable words are to come next (in brackets: the grammar)\n\n");
  Random random(4);
  const Indices ids = generate(
      simple(model), prompt("the cat"), random,
      {.max_new_tokens = 8, .eos = Vocabulary::eos, .after_step = [&](const GenerationStep& step) {
         print_step(model, step);
       }});
  std::printf("%s\n\n", vocabulary.decode(ids).c_str());
}

void ways_to_draw(const Transformer& model) {
  std::printf("2. 200 sentences, drawn in other ways\n");
  std::printf("                    allowed  different\n");
  const auto print = [&](const char* name, const SamplingOptions& sampling) {
    Random random(6);
    std::set<Words> different;
    int allowed = 0;
    for (int i = 0; i < 200; ++i) {
      const Words words =
          written(generate(cached(model), prompt(""), random,
                           {.sampling = sampling, .max_new_tokens = 7, .eos = Vocabulary::eos}));
      allowed += std::isfinite(grammar.log_probability(words));
      different.insert(words);
    }
    std::printf("%-20s %6d %10zu\n", name, allowed, different.size());
  };
  print("greedy", greedy);
  print("temperature 0.5", {.temperature = 0.5});
  print("temperature 1", {});
  print("temperature 2", {.temperature = 2});
  print("top 3", {.top_k = 3});
  print("top 90 %", {.top_p = 0.9});
  std::printf("\n");
}

void compare_with_cache(const Transformer& model) {
  const Words words = grammar.example().words;
  const NextLogits quick = cached(model), slow = simple(model);
  Indices ids = prompt("");
  double worst = largest_difference(quick(ids), slow(ids));
  Index without = 1;
  for (const std::string& word : words) {
    ids.values.push_back(vocabulary.id(word));
    ids.shape = {ids.shape[0] + 1};
    worst = std::max(worst, largest_difference(quick(ids), slow(ids)));
    without += ids.shape[0];
  }
  std::printf(
      "3. With keys and values kept, each position is computed once: %lld instead of %lld\n",
      static_cast<long long>(ids.shape[0]), static_cast<long long>(without));
  std::printf("   logits differ by %s\n", worst < 1e-4 ? "less than 1e-4" : "TOO MUCH");
}

// The probability of each word that is allowed, and of all others together.
std::vector<double> shares_of(const WordShares& allowed, const Tensor& probabilities) {
  std::vector<double> shares;
  double rest = 1;
  for (const auto& [word, truth] : allowed) {
    shares.push_back(double{probabilities.at({vocabulary.id(word)})});
    rest -= shares.back();
  }
  shares.push_back(rest);
  return shares;
}

void draw(const Transformer& model, const std::string& text) {
  const WordShares allowed = grammar.next_word(split_words(text));
  const Tensor logits = simple(model)(prompt(text));  // (vocabulary)
  std::vector<std::vector<double>> shares;
  for (const double temperature : {0.5, 1.0, 2.0}) {
    shares.push_back(
        shares_of(allowed, sampling_probabilities(logits, {.temperature = temperature})));
  }
  std::printf(
      "\nTemperature 2: all words that may not follow “%s” have %.2f together; at 1, %.2f\n",
      text.c_str(), shares[2].back(), shares[1].back());
  plot::write_png(generation_picture(text, allowed, shares), "out/plots/phase4_generation.png");
  std::printf("\nwrote out/plots/phase4_generation.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 46: generation (takes about a second)\n\n");
  const Transformer model =
      read_transformer(model_file, "step 43 trains and saves it. Type: make run-43");
  step_by_step(model);
  ways_to_draw(model);
  compare_with_cache(model);
  draw(model, "the cat");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
