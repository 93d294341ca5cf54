// Step 25. Are several heads better than one?
//
// New here: a fair comparison. The same number of parameters, of multiplications, of training steps
// and of sentences; only the number of heads differs. Several seeds each, since one run may be
// lucky; two initialisations, since one may favour few or many heads; two tasks, since one may be
// special; two numbers of steps, since a slow learner is not a bad one. The loss on the verbs with
// an object is printed by itself: they need two words at once. The experiment head_count_seeds
// has ten seeds and more steps.
// Writes out/plots/phase2_single_vs_multi.png; takes about 15 seconds.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/hidden_links.hpp"
#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/dot_plot.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index batch = 32;
constexpr int seeds = 3;
constexpr double best_possible = 1.10;  // of hidden words: see course/grammar.hpp

using Draw = std::function<Batch(Index rows, Random& random)>;

struct Problem {
  Draw train, test;
  TransformerOptions options;
  Batch verbs = {};  // (2000, 6), sentences with an object whose verb is hidden
};

struct Result {
  double loss;   // on 2000 rows of the test
  double right;  // share of these rows that are wholly right
  int learned;   // how many numbers
  double verb;   // loss on the verbs
};

double loss_on(const Batch& rows, const Transformer& model) {
  if (rows.lengths.empty()) return 0;
  return cross_entropy(model(rows.inputs), rows.targets).item();
}

Result run(const Problem& problem, int heads, int steps, std::uint64_t seed) {
  TransformerOptions options = problem.options;
  options.num_heads = heads;
  options.has_feed_forward = false;
  Random random(seed);
  const Transformer model(options, random);
  Adam adam(model.parameters());
  TrainingOptions training{.steps = steps};
  training.what = "";
  training.learning_rate = [&](Index step) {
    return cosine_schedule(step, {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps});
  };
  const auto loss_of_step = [&](Index step) {
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const Batch b = problem.train(batch, drawn);       // (batch, length)
    return cross_entropy(model(b.inputs), b.targets);  // (), of logits (batch, length, vocabulary)
  };
  train(adam, loss_of_step, training);

  Random fresh(77);
  const Batch test = problem.test(2000, fresh);  // (2000, length)
  const Tensor logits = model(test.inputs);      // (2000, length, vocabulary)
  return {cross_entropy(logits, test.targets).item(),
          static_cast<double>(exact_matches(logits, test.targets)) / 2000,
          static_cast<int>(model.num_parameters()), loss_on(problem.verbs, model)};
}

std::vector<Result> over_seeds(const Problem& problem, int heads, int steps, Progress& progress) {
  std::vector<Result> results;
  for (int seed = 1; seed <= seeds; ++seed) {
    results.push_back(run(problem, heads, steps, static_cast<std::uint64_t>(seed)));
    progress.step();
  }
  std::printf("%5d %5d %4d %8d   ", steps, heads, 64 / heads, results[0].learned);
  return results;
}

// Prints the losses, their mean, and the losses on the verbs; returns the losses.
std::vector<double> losses(const std::vector<Result>& results) {
  std::vector<double> list;
  double sum = 0;
  for (const Result& result : results) {
    std::printf(" %6.3f", result.loss);
    list.push_back(result.loss);
    sum += result.loss;
  }
  std::printf(" %6.3f   ", sum / seeds);
  for (const Result& result : results) std::printf(" %6.3f", result.verb);
  std::printf("\n");
  return list;
}

void draw(plot::DotPlot& chart) {
  chart.title = "One head or several, with the same number of parameters";
  chart.subtitle =
      "guessing hidden words, 800 steps; a dot is one of three seeds; colour: the "
      "deviation of parameters at the start";
  chart.label_axis = "heads";
  chart.value_axis = {.name = "loss on new sentences", .log = false, .low = 1.0, .high = {}};
  chart.labels = {"1", "2", "4", "16"};
  chart.reference_lines = {{best_possible, "best possible"}};
  plot::write_png(plot::render(chart, 860), "out/plots/phase2_single_vs_multi.png");
}

void hidden_words(Progress& progress) {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  const Draw new_rows = [&](Index rows, Random& random) {
    std::vector<Words> texts;
    for (Index i = 0; i < rows; ++i) texts.push_back(grammar.sentence(random).words);
    return masked_lm_batch(vocabulary, texts, random);  // (rows, 6)
  };
  Problem problem{
      new_rows, new_rows, {.vocab_size = vocabulary.size(), .max_length = 6, .num_layers = 1}};
  problem.options.is_causal = false;
  problem.verbs = hide_word(vocabulary, {"", true, 2, 5});
  std::printf("1. Hidden words of the grammar, one layer: loss on new sentences\n");
  std::printf("                             all hidden words              verbs with an object\n");
  std::printf("steps heads  d_k  learned    seed 1 seed 2 seed 3   mean    seed 1 seed 2 seed 3\n");
  plot::DotPlot chart;
  for (const bool small : {true, false}) {
    problem.options.initializer = small ? init::normal : init::lecun_normal;
    std::printf("parameters start with deviation %s\n", small ? "0.02" : "1/sqrt(64) = 0.125");
    plot::RunSeries dots{small ? "0.02" : "0.125"};
    for (const int heads : {1, 2, 4, 16}) {
      dots.groups.push_back({losses(over_seeds(problem, heads, 800, progress)), {}});
    }
    chart.series.push_back(dots);
  }
  draw(chart);
}

void reversing(Progress& progress) {
  const TinyTask task(TaskKind::reverse, {.longest = 6});
  const auto part = [&](Part which) {
    return [&task, which](Index rows, Random& random) { return task.batch(which, rows, random); };
  };
  const Problem problem{part(Part::train),
                        part(Part::held_out),
                        {.vocab_size = task.vocabulary().size(),
                         .max_length = 16,
                         .initializer = init::lecun_normal}};
  std::printf("\n2. Reversing 4 to 6 letters, two layers: per cent wholly right\n");
  std::printf("steps heads  d_k  learned    seed 1 seed 2 seed 3\n");
  for (const int steps : {120, 200}) {
    for (const int heads : {1, 4, 16}) {
      for (const Result& result : over_seeds(problem, heads, steps, progress)) {
        std::printf(" %6.1f", 100 * result.right);
      }
      std::printf("\n");
    }
  }
}

}  // namespace

int main() try {
  std::printf("Step 25: one head or several (takes about 15 seconds)\n\n");
  Progress progress("training", 14 * seeds, "models");
  hidden_words(progress);
  reversing(progress);
  std::printf("\nwrote out/plots/phase2_single_vs_multi.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
