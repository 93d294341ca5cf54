// Step 52. Do deeper layers look farther? And what does the mask do to how far they look?
//
// New here: the same model learns the same task, guessing hidden words in texts of three sentences
// (course/hidden_word_models.hpp), with and without the causal mask. How far a head looks, in
// words, stands beside what it has to be compared with: uniform attention under the same mask, and
// the same model untrained. And a control tells whether it matters where a layer looks: its weights
// are made uniform, or its heads are cut (both measured in course/head_distances.hpp).
// Reads the models of step 26; writes out/plots/phase5_distance.png; takes about 7 seconds.
#include <cstdio>
#include <string>
#include <vector>

#include "course/head_distances.hpp"
#include "course/hidden_word_models.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr Index layers = 3, length = hidden_word_length;
constexpr std::uint64_t seeds = 3;
const Vocabulary vocabulary(Grammar().words());

// Texts of three sentences, (rows, length). One word in six is hidden, and to be said in its place.
Batch draw(Index rows, Random random) {
  return hidden_word_rows(vocabulary, hidden_word_sentences, rows, random);
}

struct HiddenWords {
  std::string name;
  std::vector<Looks> looks = std::vector<Looks>(layers);  // of the heads of all seeds
  std::vector<LayerControl> control = std::vector<LayerControl>(layers);
};

HiddenWords hidden_words(bool causal) {
  HiddenWords all{causal ? "causal" : "no mask"};
  std::vector<Looks> untrained(layers);
  const Batch test = draw(500, Random(77));            // (500, length)
  const Indices texts = draw(200, Random(78)).inputs;  // (200, length)
  double loss = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = hidden_word_model(vocabulary, layers, causal, seed);
    const std::vector<Looks> before = look(model, texts);
    learn_hidden_words(model, vocabulary, seed, all.name);
    const std::vector<Looks> after = look(model, texts);
    const double own = loss_on(model, test);
    loss += own / seeds;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      all.control[layer].uniform.push_back(loss_with_uniform(model, test, Index(layer)) - own);
      all.control[layer].cut.push_back(loss_without(model, test, Index(layer)) - own);
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
