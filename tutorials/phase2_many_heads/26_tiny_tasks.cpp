// Step 26. What do heads do where the right answer is known?
//
// New here: copying, reversing, sorting, and induction (what followed the same letter earlier?),
// tasks that only attention can solve. Prompts are held out: what is tested was never trained on.
// Where each head looks is compared with where the answer stands.
// Writes out/plots/phase2_tasks.png, and a model of each task to out/checkpoints/; takes about 5
// seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/feeding.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = 4;

// Two layers without feed-forward parts, with a causal mask: no position sees a later one.
Transformer new_model(const TinyTask& task) {
  Random random(42);
  return Transformer({.vocab_size = task.vocabulary().size(),
                      .max_length = 16,
                      .num_heads = heads,
                      .has_feed_forward = false,
                      .initializer = init::lecun_normal},
                     random);
}

// The mean loss of the last 50 steps.
double learn(const Transformer& model, const TinyTask& task, const std::string& name, Index steps) {
  Adam adam(model.parameters());
  const ScheduleOptions rate = {.peak = 3e-3, .floor = 1e-4, .warmup_steps = 50, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random random(1, static_cast<std::uint64_t>(step));
    const Batch b = task.batch(Part::train, 64, random);  // (64, length)
    return cross_entropy(model(b.inputs), b.targets);     // (), of logits (64, length, vocabulary)
  };
  TrainingOptions options{.steps = steps};
  options.learning_rate = [&](Index step) { return cosine_schedule(step, rate); };
  options.what = name;
  const std::vector<double> losses = train(adam, loss_of_step, options).losses;
  return std::accumulate(losses.end() - 50, losses.end(), 0.0) / 50;
}

// Mean weight of each head of `answer` (heads, rows, keys) on those letters of the prompt that are
// the letter that the row predicts; key p + 1 is letter p.
std::vector<double> weight_on_said(const Tensor& answer, const Words& words, Index given) {
  Tensor marks = Tensor::zeros({answer.size(1), answer.size(2)});  // (rows, keys)
  for (Index row = 0; row < answer.size(1); ++row) {
    for (Index p = 0; p < given - 1; ++p) {
      const bool same =
          words[static_cast<std::size_t>(p)] == words[static_cast<std::size_t>(given + row)];
      marks.set({row, p + 1}, same ? 1 : 0);
    }
  }
  return doubles(mean(sum(answer * marks, -1), -1));  // (heads)
}

// The answer to a held-out prompt of five letters, and where a head of layer 1 looks while the
// model predicts it: the head with the most weight on the letters to be predicted.
plot::Heatmap answer_map(const Transformer& model, const TinyTask& task, const std::string& name) {
  Random random(6);
  TaskSequence sequence = task.sequence(Part::held_out, random);
  while (sequence.given != 6) sequence = task.sequence(Part::held_out, random);
  const Words& words = sequence.words;
  const Index given = sequence.given;
  const auto length = static_cast<Index>(words.size());
  const Capture seen;
  model(next_word_batch(task.vocabulary(), {words}).inputs, {},
        {.need_weights = true});                                      // (1, length + 1, vocabulary)
  const Tensor all = squeeze(seen["blocks.1.attention.weights"], 0);  // (heads, queries, keys)
  const Tensor answer = slice(slice(all, 1, given, length), 2, 0, length);  // (heads, rows, keys)
  const std::vector<double> found = weight_on_said(answer, words, given);
  const auto head = std::max_element(found.begin(), found.end()) - found.begin();

  Words says(words.begin() + given, words.end()), reads = {"bos"};
  for (std::string& word : says) word = "says " + word;
  reads.insert(reads.end(), words.begin(), words.end() - 1);
  plot::Heatmap map = attention_heatmap(squeeze(slice(answer, 0, head, head + 1), 0), says, reads,
                                        name + ": head " + std::to_string(head) + " of layer 1");
  map.masked.assign(map.values.size(), false);  // what has not been read yet
  for (Index row = 0; row < map.rows; ++row) {
    for (Index column = given + row + 1; column < length; ++column) {
      map.masked[static_cast<std::size_t>(row * length + column)] = true;
    }
  }
  map.row_axis = "query";
  map.column_axis = "key: what was read";
  map.colour_bar = false;
  return map;
}

using LayerScores = std::array<std::array<double, heads>, 2>;

double best(const LayerScores& scores) {
  double result = 0;
  for (const auto& layer : scores) {
    result = std::max(result, *std::max_element(layer.begin(), layer.end()));
  }
  return result;
}

// While the model predicts the answer: the mean weight of each head on those letters of the prompt
// that are the letter to be predicted. With `shuffle` the prompt's letters are in random order.
LayerScores weight_on_answer(const Transformer& model, const TinyTask& task, bool shuffle) {
  LayerScores sums{};
  double count = 0;
  Random random(99);
  for (int s = 0; s < 200; ++s) {
    TaskSequence sequence = task.sequence(Part::held_out, random);
    Words& words = sequence.words;
    const Index letters = sequence.given - 1;  // of the prompt; "=>" or a first answer follows
    if (shuffle) {
      const Words prompt(words.begin(), words.begin() + letters);
      const std::vector<Index> order = random.permutation(letters);
      for (std::size_t i = 0; i < prompt.size(); ++i) {
        words[i] = prompt[static_cast<std::size_t>(order[i])];
      }
    }
    const Batch b = next_word_batch(task.vocabulary(), {words});  // (1, length)
    const Capture seen;
    model(b.inputs, {},
          {.need_weights = true});  // (1, length, vocabulary); position p + 1 reads words[p]
    for (auto said = static_cast<std::size_t>(sequence.given); said < words.size(); ++said) {
      for (std::size_t p = 0; p < static_cast<std::size_t>(letters); ++p) {
        if (words[p] != words[said]) continue;
        for (std::size_t layer = 0; layer < 2; ++layer) {  // w (1, heads, length, length)
          const Tensor& w = seen["blocks." + std::to_string(layer) + ".attention.weights"];
          for (Index head = 0; head < heads; ++head) {
            sums[layer][static_cast<std::size_t>(head)] +=
                double{w.at({0, head, static_cast<Index>(said), static_cast<Index>(p) + 1})};
          }
        }
      }
      count += 1;
    }
  }
  for (auto& layer : sums) {
    for (double& sum : layer) sum /= count;
  }
  return sums;
}

// Layer 0: the mean weight of each head on the letter before, at the letters 2 to 4 of the prompt.
std::array<double, heads> weight_on_previous(const Transformer& model, const TinyTask& task) {
  std::array<double, heads> result{};
  Random random(99);
  const Batch b = task.batch(Part::held_out, 200, random);  // (200, length)
  const Capture seen;
  model(b.inputs, {}, {.need_weights = true});  // (200, length, vocabulary)
  for (Index head = 0; head < heads; ++head) {  // w (200, 1, length, length)
    const Tensor w = slice(seen["blocks.0.attention.weights"], 1, head, head + 1);
    for (Index at = 2; at <= 4; ++at) {
      const Tensor before = slice(slice(w, 2, at, at + 1), 3, at - 1, at);  // (200, 1, 1, 1)
      result[static_cast<std::size_t>(head)] += double{mean(before).item()} / 3;
    }
  }
  return result;
}

struct Row {  // the results of one task
  std::string name;
  double loss;
  Index right;
  LayerScores trained, untrained, shuffled;
  std::array<double, heads> previous, previous_untrained;
};

std::vector<Row> train_tasks(std::vector<plot::Heatmap>& maps) {
  std::vector<Row> rows;
  std::printf("1. Four heads in each of two layers, on tasks of 4 to 6 letters; 2000 held out\n");
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    const TinyTask task(kind, {.longest = 6});
    const std::string name = to_string(kind);
    const Transformer model = new_model(task), fresh = new_model(task);
    const double loss = learn(model, task, name, kind == TaskKind::sort ? 1000 : 300);
    Random random(77);
    const Batch test = task.batch(Part::held_out, 2000, random);  // (2000, length)
    rows.push_back({name, loss, exact_matches(model(test.inputs), test.targets),
                    weight_on_answer(model, task, false), weight_on_answer(fresh, task, false),
                    weight_on_answer(model, task, true), weight_on_previous(model, task),
                    weight_on_previous(fresh, task)});
    maps.push_back(answer_map(model, task, name));
    write_transformer("out/checkpoints/" + name + "_model.safetensors", model,
                      to_metadata(task.vocabulary(), test));
  }
  return rows;
}

void print_weights(const std::array<double, heads>& weights) {
  for (const double weight : weights) std::printf(" %.2f", weight);
}

void print_tasks(const std::vector<Row>& rows) {
  std::printf("task       loss  wholly right (guessing: loss %.2f, 0.0 %%)\n", std::log(22));
  for (const Row& row : rows) {
    std::printf("%-9s %.3f %8.1f %%\n", row.name.c_str(), row.loss,
                static_cast<double>(row.right) / 20);
  }
  std::printf("\n2. Mean weight on the letter to be said, among those of the prompt\n");
  std::printf("          layer 0              layer 1                best of eight\n");
  std::printf("task       h0   h1   h2   h3    h0   h1   h2   h3   untrained  shuffled\n");
  for (const Row& row : rows) {
    std::printf("%-9s", row.name.c_str());
    for (const auto& layer : row.trained) {
      print_weights(layer);
      std::printf(" ");
    }
    std::printf("%8.2f %10.2f\n", best(row.untrained), best(row.shuffled));
  }
  std::printf("\n3. Layer 0 of induction: mean weight on the letter before\n");
  std::printf("trained  ");
  print_weights(rows.back().previous);
  std::printf("\nuntrained");
  print_weights(rows.back().previous_untrained);
  std::printf("\n");
}

}  // namespace

int main() try {
  std::printf("Step 26: tasks with right answers (takes about 5 seconds)\n\n");
  std::vector<plot::Heatmap> maps;
  print_tasks(train_tasks(maps));
  plot::Canvas canvas(1360, 800, 1.5);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 2, 2);
  for (std::size_t i = 0; i < panels.size(); ++i) plot::draw(canvas, panels[i], maps[i]);
  plot::write_png(canvas, "out/plots/phase2_tasks.png");
  std::printf("\nwrote out/plots/phase2_tasks.png and a model of each task:\n");
  std::printf("out/checkpoints/{copy,reverse,sort,induction}_model.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
