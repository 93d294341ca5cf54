// Step 52. Do deeper layers look farther? And what does the mask do to how far they look?
//
// New here: the same model learns the same task, guessing hidden words in texts of three sentences
// (course/hidden_word_rows.hpp), with and without the causal mask. How far a head looks, in words,
// stands beside what it has to be compared with: uniform attention under the same mask, and the
// same model untrained. And a control tells whether it matters where a layer looks: its weights are
// made uniform, or its heads are cut.
// Reads the models of step 26; writes out/plots/phase5_distance.png; takes about 7 seconds.
#include <cstdio>
#include <string>
#include <vector>

#include "course/head_distances.hpp"
#include "course/hidden_word_rows.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index layers = 3, sentences = 3, length = 6 * sentences, steps = 1000;
constexpr std::uint64_t seeds = 3;
const Vocabulary vocabulary(Grammar().words());

// Texts of three sentences, (rows, length). One word in six is hidden, and to be said in its place.
Batch draw(Index rows, Random random) {
  return hidden_word_rows(vocabulary, sentences, rows, random);
}

Transformer new_model(bool causal, std::uint64_t seed) {
  Random random(seed);
  return Transformer({.vocab_size = vocabulary.size(),
                      .max_length = length,
                      .d_model = 32,
                      .num_heads = 4,
                      .num_layers = layers,
                      .has_feed_forward = false,
                      .is_causal = causal},
                     random);
}

void learn(const Transformer& model, std::uint64_t seed, const std::string& name) {
  Adam adam(model.parameters());
  const ScheduleOptions rates{.peak = 1e-2, .floor = 1e-4, .warmup_steps = 50, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    const Batch b = draw(16, Random(seed, static_cast<std::uint64_t>(step)));  // (16, length)
    return cross_entropy(model(b.inputs), b.targets);  // logits (16, length, vocabulary)
  };
  const auto rate = [&](Index step) { return cosine_schedule(step, rates); };
  train(adam, loss_of_step, {.steps = steps, .learning_rate = rate, .what = name});
}

// The loss on 500 new texts.
double test_loss(const Transformer& model, const ForwardContext& pass = {}) {
  static const Batch test = draw(500, Random(77));  // (500, length)
  return double{cross_entropy(model(test.inputs, {}, pass), test.targets).item()};
}

// The loss when the weights of this layer are made uniform.
double loss_with_uniform(const Transformer& model, Index layer) {
  const Mask mask = model.options.is_causal ? Mask::causal() : Mask();
  Capture reach;
  reach.replace("blocks." + std::to_string(layer) + ".attention.weights",
                [&](const Tensor& weights) { return uniform_attention(weights.shape(), mask); });
  return test_loss(model, {.need_weights = true});
}

// The loss when all heads of this layer are cut.
double loss_without(const Transformer& model, Index layer) {
  Capture reach;
  reach.replace("blocks." + std::to_string(layer) + ".attention.heads",
                [](const Tensor& said) { return said * 0; });  // (500, heads, length, d_k)
  return test_loss(model);
}

// What the heads of a layer do on average over texts and queries.
Looks look(const Tensor& weights, const Mask& mask) {  // (texts, heads, places, places)
  const auto of_heads = [&](const Tensor& by_query) {
    return mean(mean_of_rows(by_query, rows_that_count(weights.shape(), mask)), 0);  // (heads)
  };
  const Tensor distance = of_heads(attention_distance(weights));  // (heads), like uniform
  const Tensor uniform = of_heads(attention_distance(uniform_attention(weights.shape(), mask)));
  return {distance, distance / uniform, of_heads(normalized_entropy(weights, mask))};
}

// The same of each layer.
std::vector<Looks> look(const Transformer& model, const Indices& texts) {
  const Capture seen;
  model(texts, {}, {.need_weights = true});
  std::vector<Looks> result;
  for (const Tensor& weights : captured_weights(seen)) {  // (texts, heads, places, places)
    result.push_back(look(weights, model.options.is_causal ? Mask::causal() : Mask()));
  }
  return result;
}

struct HiddenWords {
  std::string name;
  std::vector<Looks> looks = std::vector<Looks>(layers);  // of the heads of all seeds
  std::vector<LayerControl> control = std::vector<LayerControl>(layers);
};

HiddenWords hidden_words(bool causal) {
  HiddenWords all{causal ? "causal" : "no mask"};
  std::vector<Looks> untrained(layers);
  const Indices texts = draw(200, Random(78)).inputs;  // (200, length)
  double loss = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = new_model(causal, seed);
    const std::vector<Looks> before = look(model, texts);
    learn(model, seed, all.name);
    const std::vector<Looks> after = look(model, texts);
    const double own = test_loss(model);
    loss += own / seeds;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      all.control[layer].uniform.push_back(loss_with_uniform(model, Index(layer)) - own);
      all.control[layer].cut.push_back(loss_without(model, Index(layer)) - own);
      all.looks[layer].add(after[layer]);
      untrained[layer].add(before[layer]);
    }
  }
  for (std::size_t layer = 0; layer < layers; ++layer) {
    print_looks(all.name, layer, all.looks[layer], untrained[layer]);
  }
  std::printf("%-10s loss on new texts %.2f (guessing blindly 4.56)\n", all.name.c_str(), loss);
  return all;
}

std::vector<Looks> tasks() {
  std::vector<Looks> all(2);
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    const std::string name = to_string(kind);
    const TinyTask task(kind, {.shortest = 6, .longest = 6});
    const Transformer model = read_transformer("out/checkpoints/" + name + "_model.safetensors",
                                               "step 26 trains and saves it. Type: make run-26");
    Random random(42);
    TransformerOptions options = model.options;
    options.initializer = init::lecun_normal;
    const Indices texts = task.batch(Part::held_out, 200, random).inputs;  // (200, places)
    const std::vector<Looks> looks = look(model, texts);
    const std::vector<Looks> before = look(Transformer(options, random), texts);
    for (std::size_t layer = 0; layer < looks.size(); ++layer) {
      print_looks(name, layer, looks[layer], before[layer]);
      all[layer].add(looks[layer]);
    }
  }
  return all;
}

double mean_distance(const std::vector<Looks>& of_layers) {
  double sum = 0;
  for (const Looks& looks : of_layers) sum += spread(looks.distance).mean;
  return sum / double(of_layers.size());
}

void print_answer(const HiddenWords& open, const HiddenWords& causal) {
  std::printf("\nANSWER: from the first layer to the last, hidden words, heads look\n");
  for (const auto& [name, looks, control] : {open, causal}) {
    std::printf("%-8s at %.2f to %.2f of the distance of uniform attention; entropy %.2f to %.2f\n",
                name.c_str(), spread(looks.front().share).mean, spread(looks.back().share).mean,
                spread(looks.front().entropy).mean, spread(looks.back().entropy).mean);
  }
  const auto uniform = [](const Mask& mask) {
    return double{look(uniform_attention({1, 1, length, length}, mask), mask).distance.item()};
  };
  std::printf(
      "The mask shortens the mean distance by %.0f %%; that of uniform attention by %.0f %%\n",
      100 * (1 - mean_distance(causal.looks) / mean_distance(open.looks)),
      100 * (1 - uniform(Mask::causal()) / uniform(Mask())));
}

}  // namespace

int main() try {
  std::printf("Step 52: how far heads look (takes about 7 seconds)\n\n");
  std::printf("Mean distance from query to key, in words; +-: standard deviation of heads\n");
  std::printf("        layer  trained     uniform  untrained  share of uniform   entropy\n");
  const HiddenWords open = hidden_words(false), causal = hidden_words(true);
  const std::vector<Looks> solved = tasks();
  std::printf("\nHow much the loss rises when one layer is made uniform, or cut; three seeds\n");
  for (const HiddenWords& all : {open, causal}) print_controls(all.name, all.control);
  print_answer(open, causal);
  plot::write_png(dots_of_heads({{"Hidden words, no mask", open.looks},
                                 {"Hidden words, causal", causal.looks},
                                 {"Four tasks of phase 2, causal", solved}}),
                  "out/plots/phase5_distance.png");
  std::printf("\nwrote out/plots/phase5_distance.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
