// An experiment for step 34: what do layers do before they have learned anything?
//
// Trained, layer 1 looks about as far back as the letter to be said stands, and less evenly than
// layer 0. Do layers that have learned nothing do so, too? Ten random starts for each task, in rows
// as in step 34. Takes about a second of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/task_models.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/progress.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t starts = 10;

// Of one start, by layer.
struct Start {
  std::array<double, 2> distance, evenness;
};

// The entropy divided by that of even weights, as in step 34: a mean over heads, sequences, and the
// rows of each sequence that say a letter of the answer.
double evenness_of(const Tensor& weights, const Batch& batch) {
  const Mask mask = rows_with_targets(batch, true);
  const Tensor rows = rows_that_count(weights.shape(), mask);  // (200, 1, length)
  return double{mean(mean_of_rows(normalized_entropy(weights, mask), rows)).item()};
}

struct Task {
  std::string name;
  double letter;  // how far back the letter to be said stands
  std::vector<Start> starts;
};

Task look(TaskKind kind, Progress& progress) {
  const TinyTask task(kind, {.longest = 6});
  const PromptKeys keys = prompt_keys(task, false);
  Task result{to_string(kind), mean_distance(keys.letter), {}};
  for (std::uint64_t seed = 1; seed <= starts; ++seed) {
    const std::vector<Tensor> layers =
        weights_of(task_model(task, init::lecun_normal, seed), keys.batch.inputs);
    Start start{};
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      start.distance[layer] = mean_distance(layers[layer], keys.letter);
      start.evenness[layer] = evenness_of(layers[layer], keys.batch);
    }
    result.starts.push_back(start);
    progress.step();
  }
  return result;
}

void print_distances(const Task& task) {
  std::printf("%-9s%6.2f", task.name.c_str(), task.letter);
  double nearest = INFINITY;
  int falls = 0;  // models whose layer 1 looks less far than layer 0
  for (const Start& start : task.starts) {
    std::printf(" %4.2f", start.distance[1]);
    nearest = std::min(nearest, std::abs(start.distance[1] - task.letter));
    falls += start.distance[1] < start.distance[0] ? 1 : 0;
  }
  std::printf("%7.2f%6d\n", nearest, falls);
}

void print_evenness(const Task& task) {
  int rises = 0;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    std::printf("%-9s%6zu", task.name.c_str(), layer);
    for (const Start& start : task.starts) {
      std::printf(" %4.2f", start.evenness[layer]);
      rises += layer == 1 && start.evenness[1] > start.evenness[0] ? 1 : 0;
    }
    if (layer == 1) std::printf("%10d", rises);
    std::printf("\n");
  }
}

}  // namespace

int main() try {
  Progress progress("reading", static_cast<Index>(4 * starts), "models");
  std::vector<Task> tasks;
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    tasks.push_back(look(kind, progress));
  }
  std::printf("Experiment 34_random_starts: how far back the letter to be said stands, and how\n");
  std::printf("far back layer 1 of ten untrained models looks. Off by: the nearest of the ten;\n");
  std::printf("falls: in how many it is less than in layer 0\n");
  std::printf("         letter    1    2    3    4    5    6    7    8    9   10 off by falls\n");
  for (const Task& task : tasks) print_distances(task);
  std::printf("\nThe evenness of both layers; rises: in how many it is more in layer 1\n");
  std::printf("          layer    1    2    3    4    5    6    7    8    9   10     rises\n");
  for (const Task& task : tasks) print_evenness(task);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
