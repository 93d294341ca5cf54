// Step 34. How does attention change from layer to layer?
//
// New here: all heads of all layers on one page, and three numbers for each layer: how evenly it
// looks, how far, and how much at the word itself. It is often said that deeper layers look
// further, or nearer. Here are four models of two layers each, over 300 sequences, beside the same
// models untrained, whose numbers come from random parameters and the mask. Each was trained once:
// experiments/34_seeds shows what of it holds for ten seeds.
// Reads the models of step 26; writes out/plots/phase3_layers.png and phase3_layer_bars.png; takes
// about a second.
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr Index sequences = 300;
constexpr std::array kinds = {TaskKind::copy, TaskKind::reverse, TaskKind::sort,
                              TaskKind::induction};
constexpr std::array<const char*, 3> measures = {"evenness", "distance", "on itself"};
constexpr std::array<const char*, 3> titles = {
    "How evenly a layer looks", "How far it looks, in positions", "How much at the word itself"};

TinyTask task_of(TaskKind kind) { return TinyTask(kind, {.longest = 6}); }

// One layer: each measure as a mean over heads, and its spread over sequences.
using Layer = std::array<Spread, measures.size()>;

std::vector<Layer> layers_of(const Transformer& model, const Batch& batch) {
  const Mask mask = rows_with_targets(batch, true);
  const Capture seen;
  model(batch.inputs, {}, {.need_weights = true});  // (sequences, length, vocabulary)
  std::vector<Layer> layers;
  for (const Tensor& weights : captured_weights(seen)) {  // (sequences, heads, queries, keys)
    const Tensor rows = rows_that_count(weights.shape(), mask);  // (sequences, 1, queries)
    const auto by_sequence = [&](const Tensor& by_row) {         // (sequences, heads, queries)
      return spread(mean(mean_of_rows(by_row, rows), -1));       // of (sequences)
    };
    layers.push_back({by_sequence(normalized_entropy(weights, mask)),
                      by_sequence(attention_distance(weights)),
                      spread(mean(pattern_score(Pattern::self, weights, mask), -1))});
  }
  return layers;
}

struct Task {
  std::string name;
  std::vector<Layer> trained, untrained;
};

Transformer read_model(TaskKind kind) {
  return read_transformer("out/checkpoints/" + to_string(kind) + "_model.safetensors",
                          "step 26 trains and saves it. Type: make run-26");
}

void print_layers(const std::string& name, const std::vector<Layer>& layers) {
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    std::printf("%-20s %zu", name.c_str(), layer);
    for (const Spread& s : layers[layer]) std::printf("   %6.2f +- %.2f", s.mean, s.deviation);
    std::printf("\n");
  }
}

// Means over the same rows, for far answers have more of them.
void print_distances(TaskKind kind) {
  const Transformer model = read_model(kind);
  const PromptKeys keys = prompt_keys(task_of(kind), false);
  const auto layers = [&](const Transformer& which) {
    return weights_of(which, keys.batch.inputs);  // (200, heads, length, length) each
  };
  const std::vector<Tensor> trained = layers(model),
                            random = layers(untrained(model, init::lecun_normal));
  std::printf("%-10s %6.2f %8.2f %8.2f %12.2f\n", to_string(kind).c_str(),
              mean_distance(keys.letter), mean_distance(trained[1], keys.letter),
              mean_distance(trained[0], keys.letter), mean_distance(random[1], keys.letter));
}

// In how many models a measure falls, and rises, from layer 0 to layer 1 by more than two standard
// errors.
void print_answer(const char* name, const std::vector<Task>& tasks,
                  std::vector<Layer> Task::* layers) {
  std::printf("%-10s", name);
  for (std::size_t m = 0; m < measures.size(); ++m) {
    int falls = 0, rises = 0;
    for (const Task& task : tasks) {
      const Spread &first = (task.*layers)[0][m], &second = (task.*layers)[1][m];
      const double error = std::hypot(first.deviation, second.deviation) / std::sqrt(sequences);
      falls += second.mean - first.mean < -2 * error ? 1 : 0;
      rises += second.mean - first.mean > 2 * error ? 1 : 0;
    }
    std::printf("   %s: falls in %d, rises in %d", measures[m], falls, rises);
  }
  std::printf("\n");
}

// All heads of all layers, with one sequence.
plot::HeatmapGrid grid_of(const Transformer& model, const std::string& title) {
  const TinyTask task = task_of(TaskKind::induction);
  Words reads = example_of(task, 5, 3).words;
  reads.pop_back();
  const Capture seen;
  model(next_word_batch(task.vocabulary(), {reads}).inputs, {},
        {.need_weights = true});  // (1, length, vocabulary)
  reads.insert(reads.begin(), "<bos>");
  plot::HeatmapGrid grid{.columns = model.options.num_heads, .maps = {}, .title = title};
  const std::vector<Tensor> layers = captured_weights(seen);  // (1, heads, length, length) each
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (Index head = 0; head < grid.columns; ++head) {  // map (length, length)
      const Tensor map = squeeze(squeeze(slice(layers[layer], 1, head, head + 1), 1), 0);
      grid.maps.push_back(attention_heatmap(
          map, reads, reads, "layer " + std::to_string(layer) + ", head " + std::to_string(head)));
      for (Index at = 0; at < map.numel(); ++at) {
        grid.maps.back().masked.push_back(at % map.size(1) > at / map.size(1));
      }
    }
  }
  grid.maps[0].row_axis = "query";
  grid.maps[0].column_axis = "key";
  return grid;
}

void draw_maps() {
  const Transformer model = read_model(TaskKind::induction);
  plot::Canvas canvas(720, 860);
  const auto rows = plot::panels(canvas.area().inset(16), 2, 1);
  plot::draw(canvas, rows[0], grid_of(model, "Induction, trained"));
  plot::draw(canvas, rows[1],
             grid_of(untrained(model, init::lecun_normal), "The same model, untrained"));
  plot::write_png(canvas, "out/plots/phase3_layers.png");
}

plot::BarChart chart_of(const std::vector<Task>& tasks, std::size_t measure) {
  plot::BarChart chart;
  chart.title = titles[measure];
  chart.series = {{"layer 0", {}, plot::Colour{146, 190, 224}},
                  {"layer 1", {}, plot::Colour{17, 102, 168}},
                  {"untrained 0", {}, plot::Colour{214, 217, 222}},
                  {"untrained 1", {}, plot::Colour{150, 157, 168}}};
  for (const Task& task : tasks) {
    chart.labels.push_back(task.name);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      chart.series[layer].values.push_back(task.trained[layer][measure].mean);
      chart.series[layer + 2].values.push_back(task.untrained[layer][measure].mean);
    }
  }
  return chart;
}

// The first chart has the legend of all three.
void draw_bars(const std::vector<Task>& tasks) {
  plot::Canvas canvas(800, 760);
  const plot::Rect all = canvas.area().inset(16);
  constexpr double legend = 50;
  const auto rows = plot::panels({all.x, all.y + legend, all.width, all.height - legend}, 3, 1);
  for (std::size_t m = 0; m < rows.size(); ++m) {
    plot::BarChart chart = chart_of(tasks, m);
    plot::Rect area = rows[m];
    if (m == 0) {
      chart.subtitle = "mean of four heads, while the answer is said";
      area.y -= legend;
      area.height += legend;
    } else {
      for (plot::BarSeries& series : chart.series) series.name.clear();
    }
    plot::draw(canvas, area, chart);
  }
  plot::write_png(canvas, "out/plots/phase3_layer_bars.png");
}

}  // namespace

int main() try {
  std::printf("Step 34: from layer to layer (takes about a second)\n\n");
  std::printf("Rows that say a letter of the answer, mean of four heads; %lld sequences\n",
              static_cast<long long>(sequences));
  std::printf("%-20s layer   evenness         distance          on itself\n", "");
  std::vector<Task> tasks;
  for (const TaskKind kind : kinds) {
    const Transformer model = read_model(kind);
    Random random(5);
    const Batch batch = task_of(kind).batch(Part::held_out, sequences, random);  // (300, length)
    tasks.push_back({to_string(kind), layers_of(model, batch),
                     layers_of(untrained(model, init::lecun_normal), batch)});
    print_layers(tasks.back().name, tasks.back().trained);
    print_layers(tasks.back().name + ", untrained", tasks.back().untrained);
  }
  std::printf("\nFrom layer 0 to layer 1, of %zu models\n", tasks.size());
  print_answer("trained", tasks, &Task::trained);
  print_answer("untrained", tasks, &Task::untrained);
  std::printf("\nHow far back the letter to be said stands, and layers look, in the same rows\n");
  std::printf("%-10s letter  layer 1  layer 0  untrained 1\n", "");
  for (const TaskKind kind : kinds) print_distances(kind);
  draw_maps();
  draw_bars(tasks);
  std::printf("\nwrote out/plots/phase3_layers.png and out/plots/phase3_layer_bars.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
