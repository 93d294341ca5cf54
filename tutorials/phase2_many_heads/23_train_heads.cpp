// Step 23. What do four heads learn to look at?
//
// New here: several heads learn together, first on the sentences of the grammar, then on tiny tasks
// that only attention can solve. Where each head looks is compared with where the answer stands,
// beside two baselines: the same heads before training, and shuffled words.
// Writes out/checkpoints/multi_head_model.safetensors, one file for each task beside it, and
// out/weights/multi_head_patterns.safetensors (drawn by step 24); takes about 6 seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/grammar.hpp"
#include "tapestry/text/tasks.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = 4, batch = 64;
constexpr std::uint64_t seed = 42;  // of the weights at the start; the lesson tells of others

// A transformer without feed-forward parts: only attention brings words together. Weights start
// with deviation 0.02 (init::normal) or 1 / sqrt(d_model) (init::inverse_root).
Transformer new_model(Index vocabulary, Index length, Index layers, bool causal,
                      Initialiser initialiser) {
  Random random(seed);
  return Transformer({.vocabulary = vocabulary,
                      .length = length,
                      .heads = heads,
                      .layers = layers,
                      .has_feed_forward = false,
                      .causal = causal,
                      .initialiser = initialiser},
                     random);
}

// Trains on batches from `draw` and returns the mean loss of the last 50 steps.
double learn(const Transformer& model, const std::string& what, Index steps,
             const std::function<Batch(Random&)>& draw) {
  Adam adam(model.parameters());
  const CosineOptions rate = {.highest = 3e-3, .lowest = 1e-4, .warmup = 50, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random random(1, static_cast<std::uint64_t>(step));
    const Batch b = draw(random);
    return cross_entropy(model(b.inputs), b.targets);
  };
  TrainingOptions options{.steps = steps};
  options.rate = [&](Index step) { return cosine_rate(step, rate); };
  options.what = what;
  const std::vector<double> losses = train(adam, loss_of_step, options).losses;
  double sum = 0;
  for (std::size_t i = losses.size() - 50; i < losses.size(); ++i) sum += losses[i];
  return sum / 50;
}

// ---------------------------------------------------------------- the grammar

// For each head the map of a sentence, row i when word i is hidden: (heads, length, length).
Tensor hidden_word_maps(const Transformer& model, const Vocabulary& vocabulary,
                        const Words& words) {
  const auto length = static_cast<Index>(words.size());
  Indices ids = vocabulary.batch(std::vector<Words>(words.size(), words));  // a copy for each word
  for (std::size_t i = 0; i < words.size(); ++i)
    ids.values[i * words.size() + i] = Vocabulary::mask;
  const Capture seen;
  model(ids);
  const Tensor weights = seen["blocks.0.attention.weights"];  // (copy, head, query, key)
  std::vector<Tensor> rows;
  for (Index i = 0; i < length; ++i) {
    rows.push_back(reshape(slice(slice(weights, 0, i, i + 1), 2, i, i + 1), {heads, 1, length}));
  }
  return concat(rows, 1);
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
    const Tensor map = hidden_word_maps(model, vocabulary, sentence.words);
    if (maps != nullptr) maps->push_back(map);
    for (const Link& link : sentence.links) {
      for (const bool back : {false, true}) {
        const auto row = static_cast<std::size_t>(link.role) * 2 + (back ? 1 : 0);
        for (Index head = 0; head < heads; ++head) {
          sums[row][static_cast<std::size_t>(head)] +=
              double{map.at({head, back ? link.to : link.from, back ? link.from : link.to})};
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

void grammar_heads(Parameters& patterns) {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  const Transformer model = new_model(vocabulary.size(), 6, 1, false, init::normal);
  const Transformer untrained = new_model(vocabulary.size(), 6, 1, false, init::normal);
  const auto draw = [&](Index rows, Random& random) {
    std::vector<Words> texts;
    for (Index i = 0; i < rows; ++i) texts.push_back(grammar.sentence(random).words);
    return hidden_word_batch(vocabulary, texts, random);
  };
  std::printf("1. Four heads guess hidden words of the grammar\n");
  const double loss = learn(model, "grammar", 1500, [&](Random& r) { return draw(batch, r); });
  Random random(77);
  const Batch test = draw(6400, random);
  std::printf("loss %.2f (guessing blindly %.2f, the best possible 1.10)\n", loss,
              std::log(vocabulary.size()));
  std::printf("guessed right: %.0f %% of 6400\n\n",
              static_cast<double>(rows_right(model(test.inputs), test.targets)) / 64);

  std::vector<Tensor> seen, before;
  const Scores trained = linked_weights(model, vocabulary, false, &seen);
  const Scores fresh = linked_weights(untrained, vocabulary, false, &before);
  std::printf("2. Mean weight between words that the grammar links (chance: 0.17)\n");
  print_links(trained, fresh, linked_weights(model, vocabulary, true));

  const Words example = grammar.example().words;
  patterns.push_back({"grammar.example", hidden_word_maps(model, vocabulary, example)});
  patterns.push_back({"grammar.trained", stack(seen, 0)});
  patterns.push_back({"grammar.untrained", stack(before, 0)});
  write_safetensors("out/checkpoints/multi_head_model.safetensors", model.parameters(),
                    to_metadata(model.options));
}

// ---------------------------------------------------------------- the tiny tasks

using LayerScores = std::array<std::array<double, heads>, 2>;

double best(const LayerScores& scores) {
  double result = 0;
  for (const auto& layer : scores) {
    result = std::max(result, *std::max_element(layer.begin(), layer.end()));
  }
  return result;
}

// While it says the answer: the mean weight of each head on those letters of the prompt that are
// the letter to be said. With `shuffle` the prompt's letters have changed places.
LayerScores weight_on_answer(const Transformer& model, const TinyTask& task, bool shuffle) {
  LayerScores sums{};
  double count = 0;
  Random random(99);
  for (int s = 0; s < 200; ++s) {
    TaskSequence sequence = task.sequence(Part::held_out, random);
    Words& words = sequence.words;
    const Index letters = sequence.given - 1;  // of the prompt; "=>" or a first answer follows
    if (shuffle) {
      const Words prompt(words.begin(), words.begin() + letters);
      const std::vector<Index> order = random.permutation(letters);
      for (std::size_t i = 0; i < prompt.size(); ++i) {
        words[i] = prompt[static_cast<std::size_t>(order[i])];
      }
    }
    const Batch b = next_word_batch(task.vocabulary(), {words});  // position p + 1 holds words[p]
    const Capture seen;
    model(b.inputs);
    for (auto said = static_cast<std::size_t>(sequence.given); said < words.size(); ++said) {
      for (std::size_t p = 0; p < static_cast<std::size_t>(letters); ++p) {
        if (words[p] != words[said]) continue;
        for (std::size_t layer = 0; layer < 2; ++layer) {
          const Tensor& w = seen["blocks." + std::to_string(layer) + ".attention.weights"];
          for (Index head = 0; head < heads; ++head) {
            sums[layer][static_cast<std::size_t>(head)] +=
                double{w.at({0, head, static_cast<Index>(said), static_cast<Index>(p) + 1})};
          }
        }
      }
      count += 1;
    }
  }
  for (auto& layer : sums) {
    for (double& sum : layer) sum /= count;
  }
  return sums;
}

// Layer 0: the mean weight of each head on the letter before, at the letters 2 to 4 of the prompt.
std::array<double, heads> weight_on_previous(const Transformer& model, const TinyTask& task) {
  std::array<double, heads> result{};
  Random random(99);
  const Batch b = task.batch(Part::held_out, 200, random);
  const Capture seen;
  model(b.inputs);
  for (Index head = 0; head < heads; ++head) {
    const Tensor w = slice(seen["blocks.0.attention.weights"], 1, head, head + 1);
    for (Index at = 2; at <= 4; ++at) {
      const Tensor before = slice(slice(w, 2, at, at + 1), 3, at - 1, at);
      result[static_cast<std::size_t>(head)] += double{mean(before).item()} / 3;
    }
  }
  return result;
}

// One answer, and where all heads look while it is said, for step 24.
void keep_example(const Transformer& model, const TinyTask& task, const std::string& name,
                  Parameters& patterns, std::map<std::string, std::string>& texts) {
  Random random(6);
  TaskSequence sequence = task.sequence(Part::held_out, random);
  while (sequence.given != 6) sequence = task.sequence(Part::held_out, random);  // five letters
  const Words& words = sequence.words;
  const Capture seen;
  model(next_word_batch(task.vocabulary(), {words}).inputs);
  for (const std::string layer : {"0", "1"}) {
    patterns.push_back({name + "." + layer, seen["blocks." + layer + ".attention.weights"]});
  }
  texts[name + ".given"] = std::to_string(sequence.given);
  for (const std::string& word : words) texts[name] += (texts[name].empty() ? "" : " ") + word;
}

struct Row {  // what one task came to
  std::string name;
  double loss;
  Index right;
  LayerScores trained, untrained, shuffled;
  std::array<double, heads> previous, previous_untrained;
};

std::vector<Row> train_tasks(Parameters& patterns, std::map<std::string, std::string>& texts) {
  std::vector<Row> rows;
  std::printf("\n3. Four heads in each of two layers, on tasks of 4 to 6 letters; 2000 held out\n");
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    const TinyTask task(kind, {.longest = 6});
    const std::string name = to_string(kind);
    const Transformer model = new_model(task.vocabulary().size(), 16, 2, true, init::inverse_root);
    const Transformer fresh = new_model(task.vocabulary().size(), 16, 2, true, init::inverse_root);
    const Index steps = kind == TaskKind::sort ? 1000 : 300;
    const double loss = learn(
        model, name, steps, [&](Random& random) { return task.batch(Part::train, batch, random); });
    Random random(77);
    const Batch test = task.batch(Part::held_out, 2000, random);
    rows.push_back({name, loss, rows_right(model(test.inputs), test.targets),
                    weight_on_answer(model, task, false), weight_on_answer(fresh, task, false),
                    weight_on_answer(model, task, true), weight_on_previous(model, task),
                    weight_on_previous(fresh, task)});
    keep_example(model, task, name, patterns, texts);
    write_safetensors("out/checkpoints/" + name + "_model.safetensors", model.parameters(),
                      to_metadata(model.options));
  }
  return rows;
}

void print_tasks(const std::vector<Row>& rows) {
  std::printf("task       loss  wholly right (guessing: loss %.2f, 0.0 %%)\n", std::log(22));
  for (const Row& row : rows) {
    std::printf("%-9s %.3f %8.1f %%\n", row.name.c_str(), row.loss,
                static_cast<double>(row.right) / 20);
  }
  std::printf("\n4. Mean weight on the letter to be said, among those of the prompt\n");
  std::printf("          layer 0              layer 1                best of eight\n");
  std::printf("task       h0   h1   h2   h3    h0   h1   h2   h3   untrained  shuffled\n");
  for (const Row& row : rows) {
    std::printf("%-9s", row.name.c_str());
    for (const auto& layer : row.trained) {
      print_weights(layer);
      std::printf(" ");
    }
    std::printf("%8.2f %10.2f\n", best(row.untrained), best(row.shuffled));
  }
  std::printf("\n5. Layer 0 of induction: mean weight on the letter before\n");
  std::printf("trained  ");
  print_weights(rows.back().previous);
  std::printf("\nuntrained");
  print_weights(rows.back().previous_untrained);
  std::printf("\n");
}

}  // namespace

int main() try {
  std::printf("Step 23: four heads learn (takes about 6 seconds)\n\n");
  Parameters patterns;
  std::map<std::string, std::string> texts = {{"grammar", Grammar().example().text()}};
  grammar_heads(patterns);
  print_tasks(train_tasks(patterns, texts));
  write_safetensors("out/weights/multi_head_patterns.safetensors", patterns, texts);
  std::printf("\nwrote out/checkpoints/multi_head_model.safetensors and one file for each task,\n");
  std::printf("out/weights/multi_head_patterns.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
