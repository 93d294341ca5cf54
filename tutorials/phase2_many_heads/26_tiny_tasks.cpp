// Step 26. What do heads do where the right answer is known?
//
// New here: copying, reversing, sorting, and induction (what followed the same letter earlier?),
// tasks that need letters from other positions. Prompts are held out: what is tested was never
// trained on. Three questions to the heads: how much they look at the letter to be said; where they
// look when the prompt's letters have changed places, and what the model then says; and what it
// says when heads are ablated.
// Writes out/plots/phase2_tasks.png, and a model of each task to out/checkpoints/; takes about 8
// seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/task_models.hpp"
#include "course/task_pictures.hpp"
#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/input_format.hpp"

using namespace tapestry;

namespace {

constexpr Index heads = 4;

// Two layers without feed-forward parts, with a causal mask: no position sees a later one.
Transformer new_model(const TinyTask& task) { return task_model(task, init::lecun_normal, 42); }

struct Trained {
  TinyTask task;
  std::string name;
  Transformer model;
  Index head = 0;  // of layer 1: the one with the most weight on the letter to be said
};

std::vector<Trained> train_tasks() {
  std::printf("1. Four heads in each of two layers, on tasks of 4 to 6 letters; 2000 held out\n");
  std::printf("task      steps   loss  wholly right (guessing: loss %.2f, 0.0 %%)\n", std::log(22));
  std::vector<Trained> result;
  for (const TaskKind kind :
       {TaskKind::copy, TaskKind::reverse, TaskKind::sort, TaskKind::induction}) {
    const TinyTask task(kind, {.longest = 6});
    const Trained& one = result.emplace_back(Trained{task, to_string(kind), new_model(task)});
    const Index steps = kind == TaskKind::sort || kind == TaskKind::induction ? 1000 : 300;
    const std::vector<double> losses = teach(one.model, task, 1, steps, one.name);
    const double loss = std::accumulate(losses.end() - 50, losses.end(), 0.0) / 50;
    Random random(77);
    const Batch test = task.batch(Part::held_out, 2000, random);  // (2000, length)
    std::printf("%-9s %5td %6.3f %8.1f %%\n", one.name.c_str(), steps, loss,
                100 * said_without(one.model, test, {}).right);
    write_transformer("out/checkpoints/" + one.name + "_model.safetensors", one.model,
                      to_metadata(task.vocabulary(), test));
  }
  return result;
}

void print_looks(std::vector<Trained>& tasks) {
  std::printf("\n2. Mean weight on the letter to be said, among those of the prompt\n");
  std::printf("          layer 0              layer 1                untrained,\n");
  std::printf("task       h0   h1   h2   h3    h0   h1   h2   h3     best of eight\n");
  for (Trained& one : tasks) {
    const PromptKeys keys = prompt_keys(one.task, false);
    const Indices& read = keys.batch.inputs;
    // 8 each: the heads of layer 0, then those of layer 1
    const std::vector<double> trained = mean_weights(one.model, read, keys.letter);
    const std::vector<double> fresh = mean_weights(new_model(one.task), read, keys.letter);
    one.head = std::max_element(trained.begin() + heads, trained.end()) - trained.begin() - heads;
    std::printf("%-9s", one.name.c_str());
    for (std::size_t i = 0; i < trained.size(); ++i) {
      std::printf(i == heads ? "  %.2f" : " %.2f", trained[i]);
    }
    std::printf(" %8.2f\n", std::ranges::max(fresh));
  }
}

void print_places(const std::vector<Trained>& tasks) {
  std::printf("\n3. The prompt's letters change places: where does that head of layer 1 look,\n");
  std::printf("   and how often does the model say the letter that stands there?\n");
  std::printf("                   at the old   at the letter   behind the letter\n");
  std::printf("task       head         place      to be said           just read\n");
  for (const Trained& one : tasks) {
    const PromptKeys keys = prompt_keys(one.task, true);
    const Indices& read = keys.batch.inputs;
    const Tensor weights = weights_of(one.model, read)[1];  // (texts, heads, length, length)
    const Indices said = argmax(one.model(read));           // (texts, length)
    std::printf("%-9s   1.%td ", one.name.c_str(), one.head);
    for (const Indices& place : {keys.place, keys.letter, keys.behind}) {
      std::printf("    %.2f %3.0f %%", mean_weight(weights, one.head, place),
                  100 * share_said(said, read, place));
    }
    std::printf("\n");
  }
}

// Induction: the heads of layer 0, first those that look most at the letter before, and what the
// model says without them.
void print_cuts(const Trained& one) {
  Random random(78);
  const Batch test = one.task.batch(Part::held_out, 500, random);  // (500, length)
  const Indices keys = letter_before(test);                        // (500, length)
  const std::vector<double> before = mean_weights(one.model, test.inputs, keys);
  const std::vector<double> fresh = mean_weights(new_model(one.task), test.inputs, keys);
  const auto without = [&](const std::string& what, const std::vector<HeadOf>& cut) {
    std::printf("\n%-22s", what.c_str());
    for (const Replacement by : {Replacement::zero, Replacement::mean}) {
      const Said said = said_without(one.model, test, cut, by);
      std::printf(" %8.3f %6.1f %%", said.log_probability, 100 * said.right);
    }
  };
  std::printf("\n4. Induction with heads ablated, 500 sequences: ln p is the log-probability\n");
  std::printf("%26sto zero          to their mean    looks at the letter before\n", "");
  std::printf("%-22s     ln p    right     ln p    right   trained untrained", "ablated");
  without("nothing", {});
  std::vector<Index> order = {0, 1, 2, 3};
  const auto looks = [&](Index head) { return before[std::size_t(head)]; };
  std::ranges::sort(order, [&](Index a, Index b) { return looks(a) > looks(b); });
  for (const Index head : order) {
    without("0." + std::to_string(head), {{0, head}});
    std::printf(" %8.2f %9.2f", looks(head), fresh[std::size_t(head)]);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const Index a = order[i], b = order[j];
      without("0." + std::to_string(a) + " and 0." + std::to_string(b), {{0, a}, {0, b}});
    }
  }
  const std::vector<HeadOf> all = {{1, 0}, {1, 1}, {1, 2}, {1, 3}};
  std::vector<HeadOf> rest = all;
  rest.erase(rest.begin() + one.head);
  for (const HeadOf head : all) without("1." + std::to_string(head.head), {head});
  without("all of layer 1 but 1." + std::to_string(one.head), rest);
  without("all of layer 1", all);
  std::printf("\n");
}

// Do the heads of layer 1 share the alphabet?
void print_sharing(const Trained& one) {
  std::printf(
      "\n5. Sort: the weight on the letter to be said, the weight on <bos>, and ln p (the\n");
  std::printf("   log-probability of that letter) with this head ablated to its mean\n");
  std::printf("        on the letter         on <bos>              ln p without it\n");
  std::printf("letter  1.0  1.1  1.2  1.3    1.0  1.1  1.2  1.3     1.0   1.1   1.2   1.3\n");
  const Vocabulary& vocabulary = one.task.vocabulary();
  const PromptKeys keys = prompt_keys(one.task, false);
  // (200, heads, length, length)
  const Tensor weights = weights_of(one.model, keys.batch.inputs)[1];
  Random random(77);
  const Batch test = one.task.batch(Part::held_out, 2000, random);  // (2000, length)
  for (const std::string said : {"a-d", "e-m", "n-p"}) {
    const Indices letter = where_said(said, keys.letter, keys.batch.targets, vocabulary);
    Indices bos = letter;
    for (std::int32_t& key : bos.values) key = std::min(key, 0);
    std::printf("%-7s", said.c_str());
    for (Index h = 0; h < heads; ++h) std::printf(" %.2f", mean_weight(weights, h, letter));
    std::printf("  ");
    for (Index h = 0; h < heads; ++h) std::printf(" %.2f", mean_weight(weights, h, bos));
    std::printf("  ");
    const Batch some{test.inputs, where_said(said, test.targets, test.targets, vocabulary),
                     test.lengths};
    for (Index h = 0; h < heads; ++h) {
      const Said without = said_without(one.model, some, {{1, h}}, Replacement::mean);
      std::printf(" %5.2f", without.log_probability);
    }
    std::printf("\n");
  }
}

// The answer to a held-out prompt of five letters, and where the head looks meanwhile.
plot::Heatmap answer(const Trained& one) {
  const TaskSequence sequence = example_of(one.task, 5, one.name == "induction" ? 3 : 5);
  // (1, length)
  const Indices ids = next_word_batch(one.task.vocabulary(), {sequence.words}).inputs;
  return answer_map(map_of_head(one.model, ids, {1, one.head}), sequence, one.name, one.head);
}

}  // namespace

int main() try {
  std::printf("Step 26: tasks with right answers (takes about 8 seconds)\n\n");
  std::vector<Trained> tasks = train_tasks();
  print_looks(tasks);
  print_places(tasks);
  print_cuts(tasks.back());
  print_sharing(tasks[2]);
  plot::Canvas canvas(1360, 800, 1.5);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 2, 2);
  for (std::size_t i = 0; i < panels.size(); ++i) plot::draw(canvas, panels[i], answer(tasks[i]));
  plot::write_png(canvas, "out/plots/phase2_tasks.png");
  std::printf("\nwrote out/plots/phase2_tasks.png and a model of each task:\n");
  std::printf("out/checkpoints/{copy,reverse,sort,induction}_model.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
