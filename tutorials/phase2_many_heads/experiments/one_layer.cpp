// Do the tasks of step 26 need two layers? The same models with one and with two, the same steps,
// ten seeds; induction also with a smaller start. How many of 1000 held-out prompts are answered
// wholly rightly. How one layer does induction is in one_layer_places. Takes about 3 minutes.
#include <cstdint>
#include <cstdio>

#include "course/inside.hpp"
#include "course/task_models.hpp"
#include "tapestry/error.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 10;

Batch held_out(const TinyTask& task) {  // (1000, length)
  Random random(77);
  return task.batch(Part::held_out, 1000, random);
}

void run(TaskKind kind, Index steps, Index layers, Initializer start, const char* deviation) {
  const TinyTask task(kind, {.longest = 6});
  const Batch test = held_out(task);  // (1000, length)
  std::printf("%-10s %5td %6td %6s ", to_string(kind).c_str(), steps, layers, deviation);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = task_model(task, start, 41 + seed, layers);
    teach(model, task, seed, steps, "training");
    std::printf(" %5.1f", 100 * said_without(model, test, {}).right);
  }
  std::printf("\n");
}

}  // namespace

int main() try {
  std::printf("Wholly right, %%, of 1000 held-out prompts, by seed; start: the deviation\n");
  std::printf("task       steps layers  start ");
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) std::printf(" %5d", static_cast<int>(seed));
  std::printf("\n");
  for (const Index layers : {1, 2}) {
    run(TaskKind::copy, 300, layers, init::lecun_normal, "0.125");
    run(TaskKind::reverse, 300, layers, init::lecun_normal, "0.125");
    run(TaskKind::sort, 1000, layers, init::lecun_normal, "0.125");
    run(TaskKind::induction, 1000, layers, init::lecun_normal, "0.125");
    run(TaskKind::induction, 1000, layers, init::normal, "0.02");
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
