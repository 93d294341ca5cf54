// An experiment for step 34: what of it holds for other seeds?
//
// Does layer 1 look further back than layer 0, as far as the letter to be said stands, and less
// evenly? Ten models for each task of step 26, as they start and trained, in rows as in step 34.
// Seed 1 is the model of step 26. Takes about two minutes of processor time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
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

constexpr std::uint64_t seeds = 10;

// One layer: means over its four heads.
struct Layer {
  double distance, on_letter;  // in rows that say a letter which stands once in the prompt
  double evenness;             // in all rows that say a letter of the answer
};

struct Run {
  std::array<Layer, 2> untrained, trained;
};

struct Task {
  std::string name;
  double letter;  // how far back the letter to be said stands
  std::vector<Run> runs;
};

// The entropy divided by that of even weights, as in step 34.
double evenness_of(const Tensor& weights, const Batch& batch) {
  const Mask mask = rows_with_targets(batch, true);
  const Tensor rows = rows_that_count(weights.shape(), mask);  // (300, 1, length)
  return double{mean(mean_of_rows(normalized_entropy(weights, mask), rows)).item()};
}

double mean_of_heads(const Tensor& weights, const Indices& keys) {
  double sum = 0;
  for (Index head = 0; head < weights.size(1); ++head) sum += mean_weight(weights, head, keys);
  return sum / static_cast<double>(weights.size(1));
}

std::array<Layer, 2> look(const Transformer& model, const PromptKeys& keys, const Batch& answers) {
  const std::vector<Tensor> once = weights_of(model, keys.batch.inputs),
                            all = weights_of(model, answers.inputs);
  std::array<Layer, 2> layers{};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i] = {mean_distance(once[i], keys.letter), mean_of_heads(once[i], keys.letter),
                 evenness_of(all[i], answers)};
  }
  return layers;
}

Task train(TaskKind kind, Progress& progress) {
  const TinyTask task(kind, {.longest = 6});
  const PromptKeys keys = prompt_keys(task, false);
  Random random(5);
  const Batch answers = task.batch(Part::held_out, 300, random);  // (300, length), of step 34
  const bool is_long = kind == TaskKind::sort || kind == TaskKind::induction;
  Task result{to_string(kind), mean_distance(keys.letter), {}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Transformer model = task_model(task, init::lecun_normal, 41 + seed);
    Run run{.untrained = look(model, keys, answers), .trained = {}};
    teach(model, task, seed, is_long ? 1000 : 300, "");
    run.trained = look(model, keys, answers);
    result.runs.push_back(run);
    progress.step();
  }
  return result;
}

using Layers = std::array<Layer, 2> Run::*;

void print_row(const char* name, const Task& task, Layers layers, std::size_t layer,
               double Layer::* number) {
  std::printf("  %-19s", name);
  for (const Run& run : task.runs) std::printf(" %5.2f", (run.*layers)[layer].*number);
  std::printf("\n");
}

void print_rows(const std::vector<Task>& tasks, double Layer::* number, bool with_letter) {
  for (const Task& task : tasks) {
    std::printf("%s", task.name.c_str());
    if (with_letter) std::printf(": the letter stands %.2f back", task.letter);
    std::printf("\n");
    print_row("layer 0", task, &Run::trained, 0, number);
    print_row("layer 1", task, &Run::trained, 1, number);
    print_row("layer 0, untrained", task, &Run::untrained, 0, number);
    print_row("layer 1, untrained", task, &Run::untrained, 1, number);
  }
}

// What layer 1 does beside layer 0 and the letter, in the ten models of a task.
void print_layer_1(const Task& task, const char* name, Layers layers) {
  int further = 0, sharper = 0, near = 0;
  double least = INFINITY, most = 0;
  for (const Run& run : task.runs) {
    const Layer &first = (run.*layers)[0], &second = (run.*layers)[1];
    const double off = std::abs(second.distance - task.letter);
    further += second.distance > first.distance ? 1 : 0;
    sharper += second.evenness < first.evenness ? 1 : 0;
    near += off < 0.25 ? 1 : 0;
    least = std::min(least, off), most = std::max(most, off);
  }
  std::printf("%-10s %-10s %8d %8d %8d %8.2f to %.2f\n", task.name.c_str(), name, further, sharper,
              near, least, most);
}

}  // namespace

int main() try {
  Progress progress("training", static_cast<Index>(4 * seeds), "models");
  std::vector<Task> tasks;
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    tasks.push_back(train(kind, progress));
  }
  std::printf("Experiment 34_seeds: ten models of each task, trained and as they start\n");
  std::printf("\n1. How far back the layers look\n");
  std::printf("seed                     1     2     3     4     5     6     7     8     9    10\n");
  print_rows(tasks, &Layer::distance, true);
  std::printf("\n2. The weight on the letter to be said, in the same rows\n");
  print_rows(tasks, &Layer::on_letter, false);
  std::printf("\n3. How evenly they look\n");
  print_rows(tasks, &Layer::evenness, false);
  std::printf(
      "\n4. In how many of ten layer 1 looks further back than layer 0, and less evenly,\n");
  std::printf("and as far back as the letter (off by less than 0.25); off by: least and most\n");
  std::printf("                      further  sharper    as far      off by\n");
  for (const Task& task : tasks) {
    print_layer_1(task, "trained", &Run::trained);
    print_layer_1(task, "untrained", &Run::untrained);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
