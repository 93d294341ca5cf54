// Do heads go by the place or by the letter, whatever the seed? The tasks of step 26 with ten
// seeds; induction with two budgets and two starts. Takes about 3 minutes.
//
// The letters of the prompt have changed places. Of the head of layer 1 that looks most at the
// letter to be said (in mixed order or not), the mean weight on three keys:
//   place   where the letter to be said stood before
//   letter  where it stands now
//   behind  behind the letter just read
// Of induction also: before, the weight on the letter before, of the two heads of layer 0 that look
// there most; then these two are cut together, and the other two.
#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "course/inside.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/text/input_format.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = 4;
constexpr int seeds = 10;

Transformer learn(const TinyTask& task, Initializer initializer, std::uint64_t seed, Index steps) {
  Random random(41 + seed);
  Transformer model({.vocab_size = task.vocabulary().size(),
                     .max_length = 16,
                     .num_heads = heads,
                     .has_feed_forward = false,
                     .initializer = initializer},
                    random);
  Adam adam(model.parameters());
  const ScheduleOptions rate = {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps};
  TrainingOptions options{.steps = steps};
  options.learning_rate = [&](Index step) { return cosine_schedule(step, rate); };
  train(
      adam,
      [&](Index step) {
        Random of_step(seed, static_cast<std::uint64_t>(step));
        const Batch b = task.batch(Part::train, 64, of_step);  // (64, length)
        return cross_entropy(model(b.inputs), b.targets);      // ()
      },
      options);
  return model;
}

// The letter before, at the letters 2 to 4 of the prompt.
Indices letter_before(const Batch& batch) {
  Indices keys = batch.inputs;
  for (std::size_t at = 0; at < keys.values.size(); ++at) {
    const auto place = static_cast<std::int32_t>(static_cast<Index>(at) % keys.shape[1]);
    keys.values[at] = place >= 2 && place <= 4 ? place - 1 : -1;
  }
  return keys;
}

struct Result {
  double right, place, letter, behind, before, without_two, without_others;
};

// The head of layer 1 with the most weight on the letter to be said, in prompts as they are.
Index answer_head(const Transformer& model, const PromptKeys& keys) {
  const Tensor weights = weights_of(model, keys.batch.inputs)[1];  // (rows, heads, length, length)
  Index best = 0;
  for (Index head = 1; head < heads; ++head) {
    if (mean_weight(weights, head, keys.letter) > mean_weight(weights, best, keys.letter)) {
      best = head;
    }
  }
  return best;
}

Result look(const Transformer& model, const TinyTask& task) {
  Random random(77);
  const Batch test = task.batch(Part::held_out, 1000, random);  // (1000, length)
  const PromptKeys keys = prompt_keys(task, true);
  const std::vector<Tensor> layers = weights_of(model, keys.batch.inputs);
  const Index head = answer_head(model, prompt_keys(task, false));
  Result result{};
  result.right = said_without(model, test, {}).right;
  result.place = mean_weight(layers[1], head, keys.place);
  result.letter = mean_weight(layers[1], head, keys.letter);
  result.behind = mean_weight(layers[1], head, keys.behind);
  std::vector<std::pair<double, Index>> before;
  for (Index h = 0; h < heads; ++h) {
    before.emplace_back(-mean_weight(layers[0], h, letter_before(keys.batch)), h);
  }
  std::sort(before.begin(), before.end());
  result.before = -(before[0].first + before[1].first) / 2;
  const auto without = [&](std::size_t a, std::size_t b) {
    return said_without(model, test, {{0, before[a].second}, {0, before[b].second}}).right;
  };
  result.without_two = without(0, 1);
  result.without_others = without(2, 3);
  return result;
}

void print(const char* what, const std::vector<Result>& results, double Result::* number,
           double scale) {
  std::printf("  %-22s", what);
  for (const Result& one : results) {
    std::printf(scale == 1 ? " %4.2f" : " %4.0f", scale * (one.*number));
  }
  std::printf("\n");
}

void run(TaskKind kind, Index steps, Initializer start, const char* deviation) {
  const TinyTask task(kind, {.longest = 6});
  std::vector<Result> results;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    results.push_back(look(learn(task, start, seed, steps), task));
  }
  std::printf("%s, %td steps, parameters start with deviation %s\n", to_string(kind).c_str(), steps,
              deviation);
  print("wholly right, %", results, &Result::right, 100);
  print("place", results, &Result::place, 1);
  print("letter", results, &Result::letter, 1);
  print("behind", results, &Result::behind, 1);
  if (kind != TaskKind::induction) return;
  print("before", results, &Result::before, 1);
  print("right without them, %", results, &Result::without_two, 100);
  print("without the others, %", results, &Result::without_others, 100);
}

}  // namespace

int main() try {
  const char* const wide = "1/sqrt(d_model) = 0.125";
  std::printf("%-24s", "seed");
  for (int seed = 1; seed <= seeds; ++seed) std::printf(" %4d", seed);
  std::printf("\n");
  run(TaskKind::copy, 300, init::lecun_normal, wide);
  run(TaskKind::reverse, 300, init::lecun_normal, wide);
  run(TaskKind::sort, 1000, init::lecun_normal, wide);
  run(TaskKind::induction, 300, init::lecun_normal, wide);
  run(TaskKind::induction, 1000, init::lecun_normal, wide);
  run(TaskKind::induction, 300, init::normal, "0.02");
  run(TaskKind::induction, 1000, init::normal, "0.02");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
