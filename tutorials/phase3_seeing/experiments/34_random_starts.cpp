// An experiment for step 34: how far back does layer 1 look before it has learned anything?
//
// Trained, it looks about as far back as the letter to be said stands. Does a layer that has
// learned nothing do so, too? Ten random starts for each task, in the same rows as in step 34.
// Takes about a second of processor time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "course/inside.hpp"
#include "course/task_models.hpp"
#include "tapestry/error.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t starts = 10;

void print_task(TaskKind kind, Progress& progress) {
  const TinyTask task(kind, {.longest = 6});
  const PromptKeys keys = prompt_keys(task, false);
  const double letter = mean_distance(keys.letter);
  std::printf("%-9s%6.2f", to_string(kind).c_str(), letter);
  double nearest = INFINITY;
  int falls = 0;  // models whose layer 1 looks less far than layer 0
  for (std::uint64_t seed = 1; seed <= starts; ++seed) {
    const std::vector<Tensor> layers =
        weights_of(task_model(task, init::lecun_normal, seed), keys.batch.inputs);
    const double looks = mean_distance(layers[1], keys.letter);
    std::printf(" %4.2f", looks);
    nearest = std::min(nearest, std::abs(looks - letter));
    falls += looks < mean_distance(layers[0], keys.letter) ? 1 : 0;
    progress.step();
  }
  std::printf("%7.2f%6d\n", nearest, falls);
}

}  // namespace

int main() try {
  std::printf("Experiment 34_random_starts: how far back the letter to be said stands, and how\n");
  std::printf("far back layer 1 of ten untrained models looks. Off by: the nearest of the ten;\n");
  std::printf("falls: in how many it is less than in layer 0\n");
  std::printf("         letter    1    2    3    4    5    6    7    8    9   10 off by falls\n");
  Progress progress("reading", static_cast<Index>(4 * starts), "models");
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    print_task(kind, progress);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
