// Step 58. Does a model learn all at once to go on with what repeats itself?
//
// New here: a model is watched while it learns. It reads letters that repeat: "k a t k a" goes on
// with "t". Every ten steps its loss is measured on repetitions it has not seen, and how much its
// best heads look at the previous letter (layer 0), and at the letter that stood behind the same
// letter before (induction). Several seeds; as controls one layer, and learned positions.
// Writes out/plots/phase5_induction.png; takes about 8 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/analysis/patterns.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr int letters = 26, length = 24, steps = 500, every = 10;
constexpr double formed_from = 0.3;  // the induction score from which a run has such a head

Vocabulary letters_a_to_z() {
  Words words;
  for (char c = 'a'; c <= 'z'; ++c) words.emplace_back(1, c);
  return Vocabulary(words);
}
const Vocabulary vocabulary = letters_a_to_z();

// Pieces of 6 to 12 letters, again and again until the text is full. What is asked is each letter
// that can be known: all but the piece when it is new, and the first letter of its repetition.
Batch repetitions(Index rows, Random& random) {
  std::vector<Words> texts;
  std::vector<Index> pieces;
  for (Index row = 0; row < rows; ++row) {
    pieces.push_back(6 + random.randint(7));
    Words words;
    for (Index i = 0; i < length; ++i) {
      words.push_back(i < pieces.back()
                          ? std::string(1, static_cast<char>('a' + random.randint(letters)))
                          : words[static_cast<std::size_t>(i - pieces.back())]);
    }
    texts.push_back(words);
  }
  Batch batch = next_word_batch(vocabulary, texts);  // (rows, length + 1)
  for (Index row = 0; row < rows; ++row) {  // the target of position i is letter i; <eos> is last
    const auto target = batch.targets.values.begin() + row * (length + 1);
    std::fill_n(target, pieces[static_cast<std::size_t>(row)] + 1, -1);
    target[length] = -1;
  }
  return batch;
}

const Batch test = [] {
  Random random(99);
  return repetitions(60, random);  // (60, length + 1)
}();

// Hides the rows of the test that ask for nothing.
const Mask asked = [] {
  Tensor keep = Tensor::zeros({test.inputs.shape[0], length + 1, length + 1});  // (60, 25, 25)
  const Index width = keep.size(2);
  for (Index i = 0; i < keep.count() / width; ++i) {
    if (test.targets.values[static_cast<std::size_t>(i)] < 0) continue;
    std::fill_n(keep.data() + i * width, width, real{1});
  }
  return Mask::from(MaskEncoding::keep, keep) & Mask::causal();
}();

struct Setting {
  const char* name;
  Index layers, heads;
  Positions positions;
  int seeds;
};
const Setting settings[] = {{"two layers, one head", 2, 1, Positions::sinusoidal, 5},
                            {"two layers, two heads", 2, 2, Positions::sinusoidal, 5},
                            {"one layer, two heads", 1, 2, Positions::sinusoidal, 2},
                            {"learned positions", 2, 2, Positions::learned, 2}};

struct Run {
  const Setting* setting;
  Transformer model;
  std::vector<double> at = {}, loss = {};             // every ten steps
  std::vector<Tensor> previous = {}, induction = {};  // (heads): layer 0, last layer
  bool formed() const { return double{max(induction.back()).item()} >= formed_from; }
};

std::vector<double> best(const std::vector<Tensor>& scores) {
  std::vector<double> result;
  for (const Tensor& of_heads : scores) result.push_back(double{max(of_heads).item()});
  return result;
}

double test_loss(const Transformer& model, const ForwardContext& pass = {}) {
  return double{cross_entropy(model(test.inputs, {}, pass), test.targets).item()};
}

void look(Run& run, Index step) {
  const Capture seen;
  run.at.push_back(static_cast<double>(step));
  run.loss.push_back(test_loss(run.model, {.need_weights = true}));
  const auto weights = [&](Index layer) {  // (60, heads, length + 1, length + 1)
    return seen["blocks." + std::to_string(layer) + ".attention.weights"];
  };
  run.previous.push_back(mean(pattern_score(Pattern::previous, weights(0), Mask::causal()), 0));
  run.induction.push_back(mean(
      pattern_score(Pattern::induction, weights(run.setting->layers - 1), asked, test.inputs), 0));
}

Run trained(const Setting& setting, int seed) {
  Random random(42, static_cast<std::uint64_t>(seed));
  TransformerOptions form{.vocab_size = vocabulary.size(), .max_length = length + 1, .d_model = 32};
  form.num_heads = setting.heads;
  form.num_layers = setting.layers;
  form.has_feed_forward = false;
  form.positions = setting.positions;
  form.initializer = init::lecun_normal;
  Run run{&setting, Transformer(form, random)};
  Adam adam(run.model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data(static_cast<std::uint64_t>(seed) + 1, static_cast<std::uint64_t>(step));
    const Batch batch = repetitions(32, data);                     // (32, length + 1)
    return cross_entropy(run.model(batch.inputs), batch.targets);  // logits (32, 25, vocabulary)
  };
  TrainingOptions options{.steps = steps};
  options.learning_rate = [](Index step) {
    return 5e-3 * std::min(1.0, static_cast<double>(step) / 50);
  };
  options.what = std::string(setting.name) + ", seed " + std::to_string(seed);
  options.after_step = [&](Index step, double) {
    if (step % every == 0) look(run, step);
  };
  look(run, 0);
  train(adam, loss_of_step, options);
  return run;
}

// Where a curve changes most within 50 steps, after the first 50, in which every model learns which
// letters there are: the step in the middle, and how far it goes there.
struct Jump {
  double step = 0, size = 0;
};
Jump jump(const std::vector<double>& curve) {
  Jump result;
  for (std::size_t i = 5; i + 5 < curve.size(); ++i) {
    const double size = std::abs(curve[i + 5] - curve[i]);
    if (size > result.size)
      result = {static_cast<double>(every) * (static_cast<double>(i) + 2.5), size};
  }
  return result;
}

// The step at which a score is half-way between its first and its last value.
double half_way(const std::vector<double>& curve) {
  const double half = (curve.front() + curve.back()) / 2;
  const auto found = std::find_if(curve.begin(), curve.end(), [&](double x) { return x >= half; });
  return static_cast<double>(every * (found - curve.begin()));
}

void print_runs(const std::vector<Run>& runs) {
  std::printf("1. After %d steps; and the 50 steps in which the loss fell most\n", steps);
  std::printf("                        loss  previous  induction   fell most at   by\n");
  for (const Run& run : runs) {
    const Jump fall = jump(run.loss);
    std::printf("%-22s %5.2f %9.2f %10.2f %14.0f %4.1f  %s\n", run.setting->name, run.loss.back(),
                best(run.previous).back(), best(run.induction).back(), fall.step, fall.size,
                run.formed() ? "induction" : "");
  }
  double untrained = 0;
  for (const Run& run : runs) untrained = std::max(untrained, best(run.induction).front());
  std::printf("guessing: loss ln 26 = %.2f; induction of untrained models: at most %.2f\n",
              std::log(letters), untrained);
}

// Steps of the runs with an induction head, and the distances between them.
void print_order(const std::vector<Run>& runs) {
  std::printf("\n2. What came when, in the runs with an induction head (steps)\n");
  std::printf(
      "                       loss falls most  induction rises most    half-way: induction  "
      "previous\n");
  double apart = 0, later = 0, count = 0;
  for (const Run& run : runs) {
    if (!run.formed()) continue;
    const std::vector<double> induction = best(run.induction), previous = best(run.previous);
    const double fall = jump(run.loss).step, rise = jump(induction).step;
    std::printf("%-22s %15.0f %21.0f %22.0f %9.0f\n", run.setting->name, fall, rise,
                half_way(induction), half_way(previous));
    apart += std::abs(fall - rise);
    later += half_way(previous) - half_way(induction);
    ++count;
  }
  std::printf(
      "mean: %.0f steps between fall and rise; previous half-way %.0f steps after induction\n",
      apart / count, later / count);
}

// The test's loss without one head of a layer.
double cut(const Run& run, Index layer, Index head) {
  Capture seen;
  seen.replace("blocks." + std::to_string(layer) + ".attention.heads", [&](const Tensor& heads) {
    Tensor keep = Tensor::ones({heads.size(1), 1, 1});  // (heads, 1, 1)
    keep.set({head, 0, 0}, 0);
    return heads * keep;  // (60, heads, length + 1, d_k)
  });
  return test_loss(run.model);
}

void print_cuts(const std::vector<Run>& runs) {
  std::printf("\n3. Loss when one head is cut, same runs with two heads in each layer\n");
  std::printf(
      "nothing   layer 0: best previous  the other     layer 1: best induction  the other\n");
  for (const Run& run : runs) {
    if (!run.formed() || run.setting->heads != 2) continue;
    const Tensor &previous = run.previous.back(), &induction = run.induction.back();
    const Index p = previous.at({1}) > previous.at({0}), i = induction.at({1}) > induction.at({0});
    std::printf("%7.2f %24.2f %10.2f %27.2f %10.2f\n", run.loss.back(), cut(run, 0, p),
                cut(run, 0, 1 - p), cut(run, 1, i), cut(run, 1, 1 - i));
  }
}

const char* const kinds[] = {"two layers, induction head formed", "two layers, none formed",
                             "two layers, learned positions", "one layer"};

std::size_t kind(const Run& run) {
  if (run.setting->layers == 1) return 3;
  if (run.setting->positions == Positions::learned) return 2;
  return run.formed() ? 0 : 1;
}

void print_answer(const std::vector<Run>& runs) {
  std::printf("\n4. Answer                         runs  with induction  mean loss\n");
  for (std::size_t k = 0; k < 4; ++k) {
    double total = 0;
    int count = 0, formed = 0;
    for (const Run& run : runs) {
      if (kind(run) != k) continue;
      total += run.loss.back();
      formed += run.formed();
      ++count;
    }
    std::printf("%-33s %4d %15d %10.2f\n", kinds[k], count, formed, total / count);
  }
}

plot::LineChart chart(const std::vector<Run>& runs, const char* title, const char* subtitle,
                      std::vector<double> (*curve)(const Run&)) {
  plot::LineChart chart{.title = title, .subtitle = subtitle, .x_axis = {"step"}};
  for (std::size_t k = 0; k < 4; ++k) {
    std::string name = kinds[k];
    for (const Run& run : runs) {
      if (kind(run) != k) continue;
      chart.series.push_back(
          {.name = name, .x = run.at, .y = curve(run), .colour = plot::series_colour(k)});
      name = "";  // once in the legend
    }
  }
  return chart;
}

void draw(const std::vector<Run>& runs) {
  plot::LineChart charts[] = {chart(runs, "Loss", "on repetitions that were not trained on",
                                    [](const Run& run) { return run.loss; }),
                              chart(runs, "Induction score", "best head of the last layer",
                                    [](const Run& run) { return best(run.induction); }),
                              chart(runs, "Previous-letter score", "best head of layer 0",
                                    [](const Run& run) { return best(run.previous); })};
  charts[0].y_axis = {.name = "nats", .low = 0};
  charts[1].y_axis = charts[2].y_axis = {.name = "score", .low = 0, .high = 0.8};
  charts[0].reference_lines = {{.y = std::log(letters), .label = "guessing"}};
  plot::Canvas canvas(1500, 560, 1);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 1, 3);
  for (std::size_t i = 0; i < areas.size(); ++i) plot::draw(canvas, areas[i], charts[i]);
  plot::write_png(canvas, "out/plots/phase5_induction.png");
}

}  // namespace

int main() try {
  std::printf("Step 58: induction emerges (takes about 8 seconds)\n\n");
  std::vector<Run> runs;
  for (const Setting& setting : settings) {
    for (int seed = 0; seed < setting.seeds; ++seed) runs.push_back(trained(setting, seed));
  }
  print_runs(runs);
  print_order(runs);
  print_cuts(runs);
  print_answer(runs);
  draw(runs);
  std::printf("\nwrote out/plots/phase5_induction.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
