// Step 26. What do heads do where the right answer is known?
//
// New here: copying, reversing, sorting, and induction (what followed the same letter earlier?),
// tasks that only attention can solve. Prompts are held out: what is tested was never trained on.
// Three questions to the heads: how much they look at the letter to be said; where they look when
// the prompt's letters have changed places, and what the model then says; and what it says when
// heads are ablated.
// Writes out/plots/phase2_tasks.png, and a model of each task to out/checkpoints/; takes about 8
// seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/tasks.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/input_format.hpp"
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
    const bool is_long = kind == TaskKind::sort || kind == TaskKind::induction;
    const Index steps = is_long ? 1000 : 300;
    const double loss = learn(one.model, task, one.name, steps);
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
    double greatest = 0, of_chance = 0;
    std::printf("%-9s", one.name.c_str());
    const std::vector<Tensor> layers = weights_of(one.model, keys.batch.inputs),
                              fresh = weights_of(new_model(one.task), keys.batch.inputs);
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      for (Index head = 0; head < heads; ++head) {
        const double weight = mean_weight(layers[layer], head, keys.letter);
        of_chance = std::max(of_chance, mean_weight(fresh[layer], head, keys.letter));
        std::printf(" %.2f", weight);
        if (layer == 0 || weight <= greatest) continue;
        greatest = weight;
        one.head = head;
      }
      std::printf(" ");
    }
    std::printf("%8.2f\n", of_chance);
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

// The mean weight on the letter before, at the letters of the prompt.
double weight_before(const Tensor& weights, const Batch& batch, Index head) {
  Indices keys = batch.inputs;
  for (std::size_t at = 0; at < keys.values.size(); ++at) {
    const auto place = static_cast<std::int32_t>(static_cast<Index>(at) % batch.inputs.shape[1]);
    keys.values[at] = place >= 2 && place <= 4 ? place - 1 : -1;
  }
  return mean_weight(weights, head, keys);
}

using Cut = std::function<void(const std::string& what, const std::vector<HeadOf>& heads)>;

void cut_layer_1(const Trained& one, const Cut& without) {
  for (Index head = 0; head < heads; ++head) without("1." + std::to_string(head), {{1, head}});
  std::vector<HeadOf> rest, all;  // of layer 1
  for (Index head = 0; head < heads; ++head) {
    all.push_back({1, head});
    if (head != one.head) rest.push_back({1, head});
  }
  without("all of layer 1 but 1." + std::to_string(one.head), rest);
  without("all of layer 1", all);
}

// Induction: the heads of layer 0, first those that look most at the letter before, and what the
// model says without them.
void print_cuts(const Trained& one) {
  Random random(78);
  const Batch test = one.task.batch(Part::held_out, 500, random);  // (500, length)
  const Tensor layer = weights_of(one.model, test.inputs)[0];      // (500, heads, length, length)
  const Tensor fresh =
      weights_of(new_model(one.task), test.inputs)[0];  // (500, heads, length, length)
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
  const auto before = [&](Index head) { return weight_before(layer, test, head); };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return before(a) > before(b); });
  for (const Index head : order) {
    without("0." + std::to_string(head), {{0, head}});
    std::printf(" %8.2f %9.2f", before(head), weight_before(fresh, test, head));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const Index a = order[i], b = order[j];
      without("0." + std::to_string(a) + " and 0." + std::to_string(b), {{0, a}, {0, b}});
    }
  }
  cut_layer_1(one, without);
  std::printf("\n");
}

// The same keys, or targets, where the letter to be said is one of these; -1 elsewhere.
Indices only(const Trained& one, Indices numbers, const Indices& targets, const std::string& said) {
  for (std::size_t at = 0; at < numbers.values.size(); ++at) {
    const std::int32_t target = targets.values[at];
    const std::string word = target < 0 ? "" : one.task.vocabulary().word(target);
    if (word.size() != 1 || word[0] < said.front() || word[0] > said.back()) {
      numbers.values[at] = -1;
    }
  }
  return numbers;
}

// Do the heads of layer 1 share the alphabet?
void print_sharing(const Trained& one) {
  std::printf(
      "\n5. Sort: the weight on the letter to be said, the weight on <bos>, and ln p (the\n");
  std::printf("   log-probability of that letter) with this head ablated to its mean\n");
  std::printf("        on the letter         on <bos>              ln p without it\n");
  std::printf("letter  1.0  1.1  1.2  1.3    1.0  1.1  1.2  1.3     1.0   1.1   1.2   1.3\n");
  const PromptKeys keys = prompt_keys(one.task, false);
  const Tensor weights =
      weights_of(one.model, keys.batch.inputs)[1];  // (200, heads, length, length)
  Random random(77);
  const Batch test = one.task.batch(Part::held_out, 2000, random);  // (2000, length)
  for (const std::string said : {"a-d", "e-m", "n-p"}) {
    const Indices letter = only(one, keys.letter, keys.batch.targets, said);
    Indices bos = letter;
    for (std::int32_t& key : bos.values) key = std::min(key, 0);
    std::printf("%-7s", said.c_str());
    for (Index h = 0; h < heads; ++h) std::printf(" %.2f", mean_weight(weights, h, letter));
    std::printf("  ");
    for (Index h = 0; h < heads; ++h) std::printf(" %.2f", mean_weight(weights, h, bos));
    std::printf("  ");
    const Batch some{test.inputs, only(one, test.targets, test.targets, said), test.lengths};
    for (Index h = 0; h < heads; ++h) {
      const Said without = said_without(one.model, some, {{1, h}}, Replacement::mean);
      std::printf(" %5.2f", without.log_probability);
    }
    std::printf("\n");
  }
}

// The answer to a held-out prompt of five letters, and where the head looks meanwhile.
plot::Heatmap answer_map(const Trained& one) {
  const bool repeats = one.name == "induction";
  const TaskSequence sequence = example_of(one.task, 5, repeats ? 3 : 5);
  const Words& words = sequence.words;
  const Index given = sequence.given, length = std::ssize(words);
  const Batch batch = next_word_batch(one.task.vocabulary(), {words});  // (1, length + 1)
  const Tensor all = weights_of(one.model, batch.inputs)[1];  // (1, heads, length + 1, length + 1)
  const Tensor head = squeeze(squeeze(slice(all, 1, one.head, one.head + 1), 1), 0);
  const Tensor rows = slice(slice(head, 0, given, length), 1, 0, length);  // (answer, length)
  Words says(words.begin() + given, words.end()), reads = {"<bos>"};
  for (std::string& word : says) word = "says " + word;
  reads.insert(reads.end(), words.begin(), words.end() - 1);
  plot::Heatmap map = attention_heatmap(
      rows, says, reads, one.name + ": head " + std::to_string(one.head) + " of layer 1");
  for (Index at = 0; at < map.rows * length; ++at) {  // what has not been read yet
    map.masked.push_back(at % length > given + at / length);
  }
  map.row_axis = "query";
  map.column_axis = "key: what was read";
  map.colour_bar = false;
  return map;
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
  for (std::size_t i = 0; i < panels.size(); ++i)
    plot::draw(canvas, panels[i], answer_map(tasks[i]));
  plot::write_png(canvas, "out/plots/phase2_tasks.png");
  std::printf("\nwrote out/plots/phase2_tasks.png and a model of each task:\n");
  std::printf("out/checkpoints/{copy,reverse,sort,induction}_model.safetensors\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
