// Step 25 with ten seeds and several budgets: are several heads better than one?
//
// The same number of parameters, multiplications and sentences; only the number of heads differs.
// What could decide instead is varied, too: the parameters at the start, the number of steps and
// the learning rate; and once d_k alone. Takes about four minutes on one thread.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "course/grammar.hpp"
#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index batch = 32;
constexpr std::uint64_t seeds = 10;

using Draw = std::function<Batch(Index rows, Random& random)>;

struct Problem {
  Draw train, test;
  TransformerOptions options;
};

struct Recipe {
  Index heads, steps;
  double rate = 3e-3;
  Index d_k = 0;  // 0: 64 / heads, so that the number of parameters is always the same
};

struct Result {
  double loss, right;  // on 2000 rows of the test; right: the share that is wholly right
};

Result run(const Problem& problem, const Recipe& recipe, std::uint64_t seed) {
  TransformerOptions options = problem.options;
  options.num_heads = recipe.heads;
  options.d_k = recipe.d_k;
  options.has_feed_forward = false;
  Random random(seed);
  const Transformer model(options, random);
  Adam adam(model.parameters());
  const ScheduleOptions rate{
      .peak = recipe.rate, .floor = 1e-4, .warmup_steps = 50, .steps = recipe.steps};
  TrainingOptions training{.steps = recipe.steps};
  training.what = "";
  training.learning_rate = [&](Index step) { return cosine_schedule(step, rate); };
  const auto loss_of_step = [&](Index step) {
    Random drawn(seed, static_cast<std::uint64_t>(step));
    const Batch b = problem.train(batch, drawn);       // (batch, length)
    return cross_entropy(model(b.inputs), b.targets);  // (), of logits (batch, length, vocabulary)
  };
  train(adam, loss_of_step, training);

  Random fresh(77);
  const Batch test = problem.test(2000, fresh);  // (2000, length)
  const Tensor logits = model(test.inputs);      // (2000, length, vocabulary)
  return {double{cross_entropy(logits, test.targets).item()},
          static_cast<double>(exact_matches(logits, test.targets)) / 2000};
}

std::vector<Result> over_seeds(const Problem& problem, const Recipe& recipe, Progress& progress) {
  std::vector<Result> results;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    results.push_back(run(problem, recipe, seed));
    progress.step();
  }
  return results;
}

void print_title(const char* title, const char* columns) {
  std::printf("%s\n%s", title, columns);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::printf(" %5d", static_cast<int>(seed));
  }
  std::printf("\n");
}

void print_losses(const Problem& problem, const Recipe& recipe, Progress& progress) {
  std::printf("%5d %5d", static_cast<int>(recipe.steps), static_cast<int>(recipe.heads));
  double sum = 0;
  for (const Result& result : over_seeds(problem, recipe, progress)) {
    std::printf(" %5.3f", result.loss);
    sum += result.loss;
  }
  std::printf(" %6.3f\n", sum / seeds);
}

Problem hidden_words(const Grammar& grammar, const Vocabulary& vocabulary, bool small) {
  const Draw draw = [&](Index rows, Random& random) {
    std::vector<Words> texts;
    for (Index i = 0; i < rows; ++i) texts.push_back(grammar.sentence(random).words);
    return masked_lm_batch(vocabulary, texts, random);  // (rows, 6)
  };
  return {draw,
          draw,
          {.vocab_size = vocabulary.size(),
           .max_length = 6,
           .num_layers = 1,
           .is_causal = false,
           .initializer = small ? init::normal : init::lecun_normal}};
}

void starts_and_steps(const Grammar& grammar, const Vocabulary& vocabulary, Progress& progress) {
  std::printf("1. Hidden words of the grammar, one layer: loss on new sentences (best: 1.10)\n\n");
  for (const bool small : {true, false}) {
    const Problem problem = hidden_words(grammar, vocabulary, small);
    print_title(small ? "parameters start with deviation 0.02"
                      : "parameters start with deviation 1/sqrt(64) = 0.125",
                "steps heads");
    for (const Index heads : {1, 2, 4, 16}) print_losses(problem, {heads, 800}, progress);
    for (const Index heads : {1, 4, 16}) print_losses(problem, {heads, 4000}, progress);
    std::printf("\n");
  }
}

void rates(const Grammar& grammar, const Vocabulary& vocabulary, Progress& progress) {
  std::printf("2. The same from deviation 0.125, with other learning rates (above: 0.003)\n\n");
  const Problem problem = hidden_words(grammar, vocabulary, false);
  for (const double rate : {1e-3, 1e-2}) {
    print_title(rate < 5e-3 ? "rate 0.001" : "rate 0.010", "steps heads");
    for (const Index heads : {1, 16}) print_losses(problem, {heads, 800, rate}, progress);
    std::printf("\n");
  }
}

void print_rights(const Problem& problem, const Recipe& recipe, Progress& progress) {
  for (const Result& result : over_seeds(problem, recipe, progress)) {
    std::printf(" %5.1f", 100 * result.right);
  }
  std::printf("\n");
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
  std::printf("3. Reversing 4 to 6 letters, two layers: per cent of held-out prompts wholly\n");
  print_title("   right", "steps heads");
  for (const Index steps : {120, 200, 400}) {
    for (const Index heads : {1, 4, 16}) {
      std::printf("%5d %5d", static_cast<int>(steps), static_cast<int>(heads));
      print_rights(problem, {heads, steps}, progress);
    }
  }
  std::printf("\n4. Is it d_k or the number of heads? The same after 120 steps; attention has\n");
  print_title("   a quarter of the parameters, as many (twice), or four times as many",
              "heads   d_k");
  for (const Index heads : {4, 16}) {
    for (const Index d_k : {4, 16}) {
      std::printf("%5d %5d", static_cast<int>(heads), static_cast<int>(d_k));
      print_rights(problem, {.heads = heads, .steps = 120, .d_k = d_k}, progress);
    }
  }
}

}  // namespace

int main() try {
  std::printf("One head or several: ten seeds, several budgets\n\n");
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  Progress progress("training", 31 * seeds, "models");
  starts_and_steps(grammar, vocabulary, progress);
  rates(grammar, vocabulary, progress);
  reversing(progress);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
