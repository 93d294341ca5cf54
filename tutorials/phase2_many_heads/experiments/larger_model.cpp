// What does a larger model change, on sequences of up to 32 positions? Sorting prompts of 4 to 15
// of 16 letters: 2 n + 2 positions for n letters. Width 64 or 128, four or eight heads, two layers;
// two learning rates, three seeds. Takes about 7 minutes.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr int seeds = 3;
constexpr Index steps = 1000, rows = 500;
const TaskSize size{.letters = 16, .shortest = 4, .longest = 15};

struct Setting {
  Index width, heads;
};
constexpr Setting settings[] = {{64, 4}, {64, 8}, {128, 4}, {128, 8}};

struct Lengths {
  Index shortest, longest;
};
constexpr Lengths groups[] = {{4, 6}, {7, 9}, {10, 12}, {13, 15}};

Transformer learn(const TinyTask& task, const Setting& setting, double peak, std::uint64_t seed) {
  Random random(seed);
  Transformer model({.vocab_size = task.vocabulary().size(),
                     .max_length = task.length(),
                     .d_model = setting.width,
                     .num_heads = setting.heads,
                     .initializer = init::lecun_normal},
                    random);
  Adam adam(model.parameters());
  TrainingOptions options{.steps = steps};
  options.learning_rate = [&](Index step) {
    return cosine_schedule(step, {.peak = peak, .warmup_steps = 50, .steps = steps});
  };
  const auto loss_of_step = [&](Index step) {
    Random of_step(seed, static_cast<std::uint64_t>(step));
    const Batch b = task.batch(Part::train, 32, of_step);  // (32, length)
    return cross_entropy(model(b.inputs), b.targets);      // ()
  };
  train(adam, loss_of_step, options);
  return model;
}

// The loss on held-out prompts of all lengths; then, of each group of lengths, the percentage of
// answers that are wholly right.
void print_tested(const Transformer& model, const TinyTask& task) {
  Random random(77);
  const Batch all = task.batch(Part::held_out, rows, random);  // (rows, length)
  std::printf("  %5.3f", double{cross_entropy(model(all.inputs), all.targets).item()});
  for (const Lengths& group : groups) {
    const TinyTask part(TaskKind::sort, {size.letters, group.shortest, group.longest});
    const Batch test = part.batch(Part::held_out, rows, random);  // (rows, length)
    const Index right = exact_matches(model(test.inputs), test.targets);
    std::printf(" %6.1f", 100 * static_cast<double>(right) / double{rows});
  }
  std::printf("\n");
}

}  // namespace

int main() try {
  const TinyTask task(TaskKind::sort, size);
  std::printf("Sorting 4 to 15 letters, at most %td positions; %td steps of 32 prompts\n",
              task.length(), steps);
  std::printf("                                       held-out  wholly right, %%, by letters\n");
  std::printf("width heads parameters   rate   seed       loss    4-6    7-9  10-12  13-15\n");
  for (const Setting& setting : settings) {
    for (const double rate : {0.001, 0.003}) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Transformer model = learn(task, setting, rate, seed);
        std::printf("%5td %5td %10td  %5.3f %6d     ", setting.width, setting.heads,
                    model.num_parameters(), rate, static_cast<int>(seed));
        print_tested(model, task);
        std::fflush(stdout);
      }
    }
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
