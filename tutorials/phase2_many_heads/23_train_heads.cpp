// Step 23. What do four heads learn to look at?
//
// New here: several heads learn together to guess hidden words of the grammar. Where each looks is
// compared with the words that the grammar links, beside two baselines: the same heads before
// training, and shuffled words.
// Writes out/checkpoints/multi_head_model.safetensors and, drawn by step 24,
// out/weights/multi_head_patterns.safetensors; takes about 3 seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/input_format.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = 4, steps = 1500;
constexpr std::uint64_t seed = 42;  // of the weights at the start; the lesson tells of others

// One layer without a feed-forward part: only attention brings words together.
Transformer new_model(const Vocabulary& vocabulary) {
  Random random(seed);
  return Transformer({.vocab_size = vocabulary.size(),
                      .max_length = 6,
                      .num_heads = heads,
                      .num_layers = 1,
                      .has_feed_forward = false,
                      .is_causal = false},
                     random);
}

Batch draw(Index rows, const Vocabulary& vocabulary, Random& random) {
  std::vector<Words> texts;
  for (Index i = 0; i < rows; ++i) texts.push_back(Grammar().sentence(random).words);
  return masked_lm_batch(vocabulary, texts, random);  // (rows, 6)
}

// Trains with a rate that rises for 50 steps and then falls along half a cosine wave, and returns
// the mean loss of the last 50 steps.
double learn(const Transformer& model, const Vocabulary& vocabulary) {
  Adam adam(model.parameters());
  const ScheduleOptions rate = {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random random(1, static_cast<std::uint64_t>(step));
    const Batch b = draw(64, vocabulary, random);      // (64, 6)
    return cross_entropy(model(b.inputs), b.targets);  // (), of logits (64, 6, vocabulary)
  };
  TrainingOptions options{.steps = steps};
  options.learning_rate = [&](Index step) { return cosine_schedule(step, rate); };
  options.baseline_loss = std::log(vocabulary.size());
  const std::vector<double> losses = train(adam, loss_of_step, options).losses;
  return std::accumulate(losses.end() - 50, losses.end(), 0.0) / 50;
}

// For each head the map of a sentence: (heads, length, length). Row i is taken when word i is
// hidden, which is so in copy i of the sentence.
Tensor hidden_word_maps(const Transformer& model, const Vocabulary& vocabulary,
                        const Words& words) {
  const auto length = static_cast<Index>(words.size());
  Indices ids = vocabulary.batch(std::vector<Words>(words.size(), words));  // (copies, length)
  for (std::size_t i = 0; i < words.size(); ++i)
    ids.values[i * words.size() + i] = Vocabulary::mask;
  const Capture seen;
  model(ids, {}, {.need_weights = true});                     // (copies, length, vocabulary)
  const Tensor weights = seen["blocks.0.attention.weights"];  // (copies, heads, length, length)
  std::vector<Tensor> rows;                                   // (heads, 1, length) each
  for (Index i = 0; i < length; ++i) {
    rows.push_back(reshape(slice(slice(weights, 0, i, i + 1), 2, i, i + 1), {heads, 1, length}));
  }
  return concat(rows, 1);  // (heads, length, length)
}

using Scores = std::array<std::array<double, heads>, 8>;  // a row for each role and direction

// Mean weight of each head between linked words. `maps`, if given, keeps what was seen.
Scores linked_weights(const Transformer& model, const Vocabulary& vocabulary, bool shuffle,
                      std::vector<Tensor>* maps = nullptr) {
  Scores sums{};
  std::array<double, 8> counts{};
  Random random(99);
  for (int s = 0; s < 300; ++s) {
    Sentence sentence = Grammar().sentence(random);
    if (shuffle) sentence = shuffled(sentence, random);
    const Tensor map = hidden_word_maps(model, vocabulary, sentence.words);  // (heads, 6, 6)
    if (maps != nullptr) maps->push_back(map);
    for (const Link& link : sentence.links) {
      for (const bool back : {false, true}) {
        const auto row = static_cast<std::size_t>(link.role) * 2 + (back ? 1 : 0);
        for (Index head = 0; head < heads; ++head) {
          sums[row][static_cast<std::size_t>(head)] +=
              map.at({head, back ? link.to : link.from, back ? link.from : link.to});
        }
        counts[row] += 1;
      }
    }
  }
  for (std::size_t row = 0; row < 8; ++row) {
    for (double& sum : sums[row]) sum /= counts[row];
  }
  return sums;
}

void print_weights(const std::array<double, heads>& weights) {
  for (const double weight : weights) std::printf(" %.2f", weight);
}

void print_links(const Scores& trained, const Scores& untrained, const Scores& shuffle) {
  const std::array<const char*, 8> roles = {"determiner -> its noun", "noun -> its determiner",
                                            "subject -> verb",        "verb -> subject",
                                            "verb -> object",         "object -> verb",
                                            "preposition -> place",   "place -> preposition"};
  std::printf("                                 trained            best of four\n");
  std::printf("hidden word -> looked at    h0   h1   h2   h3   untrained  shuffled\n");
  for (std::size_t i = 0; i < roles.size(); ++i) {
    std::printf("%-24s", roles[i]);
    print_weights(trained[i]);
    std::printf("%9.2f %10.2f\n", *std::max_element(untrained[i].begin(), untrained[i].end()),
                *std::max_element(shuffle[i].begin(), shuffle[i].end()));
  }
}

}  // namespace

int main() try {
  std::printf("Step 23: four heads learn (takes about 3 seconds)\n\n");
  const Vocabulary vocabulary(Grammar().words());
  const Transformer model = new_model(vocabulary), untrained = new_model(vocabulary);
  std::printf("1. Four heads guess hidden words of the grammar\n");
  const double loss = learn(model, vocabulary);
  Random random(77);
  const Batch test = draw(6400, vocabulary, random);  // (6400, 6)
  std::printf("loss %.2f (guessing blindly %.2f, the best possible 1.10)\n", loss,
              std::log(vocabulary.size()));
  std::printf("guessed right: %.0f %% of 6400\n\n",
              static_cast<double>(exact_matches(model(test.inputs), test.targets)) / 64);

  std::vector<Tensor> seen, before;  // (heads, 6, 6) each
  const Scores trained = linked_weights(model, vocabulary, false, &seen);
  const Scores fresh = linked_weights(untrained, vocabulary, false, &before);
  std::printf("2. Mean weight between words that the grammar links (chance: 0.17)\n");
  print_links(trained, fresh, linked_weights(model, vocabulary, true));

  const Sentence example = Grammar().example();
  write_safetensors("out/weights/multi_head_patterns.safetensors",
                    {{"grammar.example", hidden_word_maps(model, vocabulary, example.words)},
                     {"grammar.trained", stack(seen, 0)},       // (300, heads, 6, 6)
                     {"grammar.untrained", stack(before, 0)}},  // (300, heads, 6, 6)
                    {{"grammar", example.text()}});
  write_transformer("out/checkpoints/multi_head_model.safetensors", model,
                    to_metadata(vocabulary, test));
  std::printf("\nwrote out/checkpoints/multi_head_model.safetensors\n");
  std::printf("and out/weights/multi_head_patterns.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
