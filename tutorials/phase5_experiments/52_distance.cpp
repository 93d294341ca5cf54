// Step 52. Do deeper layers look farther? And what does the mask do to how far they look?
//
// New here: the same model learns the same task, guessing hidden words in texts of three sentences,
// with and without the causal mask. How far a head looks, in words, stands beside what it has to be
// compared with: uniform attention under the same mask, and the same model untrained. And a control
// tells whether it matters where a layer looks: its weights are made uniform, or its heads are cut.
// Reads the models of step 26; writes out/plots/phase5_distance.png; takes about 7 seconds.
#include <cstdio>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index layers = 3, heads = 4, sentence = 6, length = 3 * sentence, steps = 1000;
constexpr std::uint64_t seeds = 3;
const Grammar grammar;
const Vocabulary vocabulary(grammar.words());

// Texts of three sentences. One word in six is hidden, and to be said in its place.
Batch draw(Index rows, Random& random) {
  std::vector<Words> texts(static_cast<std::size_t>(rows));
  for (Words& text : texts) {
    while (text.size() < length) {
      const Words words = grammar.sentence(random).words;
      text.insert(text.end(), words.begin(), words.end());
    }
  }
  Batch batch{vocabulary.batch(texts), vocabulary.batch(texts), {}};  // (rows, length)
  for (std::size_t i = 0; i < batch.inputs.values.size(); ++i) {
    if (random.randint(6) == 0) {
      batch.inputs.values[i] = Vocabulary::mask;
    } else {
      batch.targets.values[i] = -1;  // nothing is to be said here
    }
  }
  return batch;
}

Transformer new_model(bool causal, std::uint64_t seed) {
  Random random(seed);
  return Transformer({.vocab_size = vocabulary.size(),
                      .max_length = length,
                      .d_model = 32,
                      .num_heads = heads,
                      .num_layers = layers,
                      .has_feed_forward = false,
                      .is_causal = causal},
                     random);
}

const Batch test = [] {
  Random random(77);
  return draw(500, random);  // (500, length)
}();

double test_loss(const Transformer& model, const ForwardContext& pass = {}) {
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

// The loss on 500 new texts.
double learn(const Transformer& model, std::uint64_t seed) {
  Adam adam(model.parameters());
  TrainingOptions options{.steps = steps};
  options.what = model.options.is_causal ? "causal" : "no mask";
  options.learning_rate = [](Index step) {
    return cosine_schedule(step, {.peak = 1e-2, .floor = 1e-4, .warmup_steps = 50, .steps = steps});
  };
  const auto loss_of_step = [&](Index step) {
    Random random(seed, static_cast<std::uint64_t>(step));
    const Batch b = draw(16, random);                  // (16, length)
    return cross_entropy(model(b.inputs), b.targets);  // logits (16, length, vocabulary)
  };
  train(adam, loss_of_step, options);
  return test_loss(model);
}

// Of each layer, means over texts and queries, for every head: (heads).
struct Looks {
  Tensor distance;  // words from query to key
  Tensor share;     // this, as a share of what uniform attention has
  Tensor entropy;   // normalised; 1: looks at all keys alike
};

Looks look(const Tensor& weights, const Mask& mask) {  // (texts, heads, places, places)
  const auto of_heads = [&](const Tensor& by_query) {
    return mean(mean_of_rows(by_query, rows_that_count(weights.shape(), mask)), 0);  // (heads)
  };
  const Tensor distance = of_heads(attention_distance(weights));  // (heads), like uniform
  const Tensor uniform = of_heads(attention_distance(uniform_attention(weights.shape(), mask)));
  return {distance, distance / uniform, of_heads(normalized_entropy(weights, mask))};
}

std::vector<Looks> look(const Transformer& model, const Indices& texts) {
  const Capture seen;
  model(texts, {}, {.need_weights = true});
  std::vector<Looks> result;
  for (const Tensor& weights : captured_weights(seen)) {  // (texts, heads, places, places)
    result.push_back(look(weights, model.options.is_causal ? Mask::causal() : Mask()));
  }
  return result;
}

// All heads of one layer, of several models.
struct Layer {
  std::vector<double> distance, share, entropy;

  void add(const Looks& looks) {
    for (const real x : looks.distance.values()) distance.push_back(double{x});
    for (const real x : looks.share.values()) share.push_back(double{x});
    for (const real x : looks.entropy.values()) entropy.push_back(double{x});
  }
};

Spread of(const std::vector<double>& values) {
  Tensor list = Tensor::zeros({static_cast<Index>(values.size())});  // (values.size())
  for (std::size_t i = 0; i < values.size(); ++i) list.set({static_cast<Index>(i)}, values[i]);
  return spread(list);
}

void print(const std::string& name, std::size_t layer, const Layer& trained, const Layer& before) {
  const Spread distance = of(trained.distance);
  std::printf("%-10s %zu  %5.2f +- %.2f %10.2f %9.2f %13.2f %10.2f\n", name.c_str(), layer,
              distance.mean, distance.deviation, distance.mean / of(trained.share).mean,
              of(before.distance).mean, of(trained.share).mean, of(trained.entropy).mean);
}

// A dot for each head.
plot::LineChart chart(const std::string& title, const std::vector<Layer>& all) {
  plot::LineChart result;
  result.title = title;
  result.x_axis = {.name = "normalised entropy (1: looks at all keys alike)", .low = 0, .high = 1};
  result.y_axis = {.name = "distance / that of uniform attention", .low = 0.4, .high = 1.4};
  for (std::size_t layer = 0; layer < all.size(); ++layer) {
    const std::string name = "layer " + std::to_string(layer);
    result.series.push_back({name, all[layer].entropy, all[layer].share, false, true});
  }
  result.reference_lines = {{1, "uniform"}};
  return result;
}

// How much the loss of each seed rises when a layer is made uniform, and when its heads are cut.
struct Control {
  std::vector<double> uniform, cut;
};
void print_control(const std::string& name, const std::vector<Control>& layers_of) {
  for (std::size_t layer = 0; layer < layers_of.size(); ++layer) {
    std::printf("%-8s layer %zu   uniform ", name.c_str(), layer);
    for (const double more : layers_of[layer].uniform)
      std::printf(" %5.2f", more < 0.005 && more > -0.005 ? 0 : more);
    std::printf("   cut ");
    for (const double more : layers_of[layer].cut)
      std::printf(" %5.2f", more < 0.005 && more > -0.005 ? 0 : more);
    std::printf("\n");
  }
}

std::vector<Layer> hidden_words(bool causal, std::vector<Control>& control) {
  const std::string name = causal ? "causal" : "no mask";
  std::vector<Layer> trained(layers), untrained(layers);
  Random random(78);
  const Indices texts = draw(200, random).inputs;  // (200, length)
  double loss = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = new_model(causal, seed);
    const std::vector<Looks> before = look(model, texts);
    const double own = learn(model, seed);
    loss += own / seeds;
    for (Index layer = 0; layer < layers; ++layer) {
      Control& c = control[static_cast<std::size_t>(layer)];
      c.uniform.push_back(loss_with_uniform(model, layer) - own);
      c.cut.push_back(loss_without(model, layer) - own);
    }
    const std::vector<Looks> after = look(model, texts);
    for (std::size_t layer = 0; layer < after.size(); ++layer) {
      trained[layer].add(after[layer]);
      untrained[layer].add(before[layer]);
    }
  }
  for (std::size_t layer = 0; layer < trained.size(); ++layer) {
    print(name, layer, trained[layer], untrained[layer]);
  }
  std::printf("%-10s loss on new texts %.2f (guessing blindly 4.56)\n", name.c_str(), loss);
  return trained;
}

std::vector<Layer> tasks() {
  std::vector<Layer> all(2);
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
    const std::vector<Looks> fresh = look(Transformer(options, random), texts);
    for (std::size_t layer = 0; layer < looks.size(); ++layer) {
      Layer trained, before;
      trained.add(looks[layer]);
      before.add(fresh[layer]);
      print(name, layer, trained, before);
      all[layer].add(looks[layer]);
    }
  }
  return all;
}

double mean_distance(const std::vector<Layer>& all) {
  double sum = 0;
  for (const Layer& layer : all) sum += of(layer.distance).mean;
  return sum / static_cast<double>(all.size());
}

void print_answer(const std::vector<Layer>& open, const std::vector<Layer>& causal) {
  std::printf("\nANSWER: from the first layer to the last, hidden words, heads look\n");
  for (const std::vector<Layer>* all : {&open, &causal}) {
    std::printf("%-8s at %.2f to %.2f of the distance of uniform attention; entropy %.2f to %.2f\n",
                all == &open ? "no mask" : "causal", of(all->front().share).mean,
                of(all->back().share).mean, of(all->front().entropy).mean,
                of(all->back().entropy).mean);
  }
  const auto uniform = [](const Mask& mask) {
    return of({look(uniform_attention({1, 1, length, length}, mask), mask).distance.item()}).mean;
  };
  std::printf(
      "The mask shortens the mean distance by %.0f %%; that of uniform attention by %.0f %%\n",
      100 * (1 - mean_distance(causal) / mean_distance(open)),
      100 * (1 - uniform(Mask::causal()) / uniform(Mask())));
}

}  // namespace

int main() try {
  std::printf("Step 52: how far heads look (takes about 7 seconds)\n\n");
  std::printf("Mean distance from query to key, in words; +-: standard deviation of heads\n");
  std::printf("        layer  trained     uniform  untrained  share of uniform   entropy\n");
  std::vector<Control> open_control(layers), causal_control(layers);
  const std::vector<Layer> open = hidden_words(false, open_control);
  const std::vector<Layer> causal = hidden_words(true, causal_control);
  const std::vector<Layer> solved = tasks();
  std::printf("\nHow much the loss rises when one layer is made uniform, or cut; three seeds\n");
  print_control("no mask", open_control);
  print_control("causal", causal_control);
  print_answer(open, causal);
  plot::Canvas canvas(1240, 440);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 1, 3);
  plot::draw(canvas, areas[0], chart("Hidden words, no mask", open));
  plot::draw(canvas, areas[1], chart("Hidden words, causal", causal));
  plot::draw(canvas, areas[2], chart("Four tasks of phase 2, causal", solved));
  plot::write_png(canvas, "out/plots/phase5_distance.png");
  std::printf("\nwrote out/plots/phase5_distance.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
