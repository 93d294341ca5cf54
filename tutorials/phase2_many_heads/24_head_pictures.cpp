// Step 24. How do several heads look beside each other?
//
// New here: one map per head on one scale; entropy, a number for how widely a head spreads its
// weight; and the answers of the tiny tasks, row by row. Nothing is trained: what step 23 saw is
// read from its file and drawn.
// Writes out/plots/phase2_multi_head_grid.png, out/plots/phase2_attention_entropy.png and
// out/plots/phase2_tasks.png; takes about a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/text/vocabulary.hpp"

using namespace tapestry;

namespace {

const std::string file = "out/weights/multi_head_patterns.safetensors";
constexpr Index heads = 4;

// Panels side by side, in rows, and one bar for the colours of all.
void write_grid(const std::vector<plot::Heatmap>& maps, int columns, double width, double height,
                const std::string& path) {
  plot::Canvas canvas(width, height, 1.5);
  const plot::Rect area = canvas.area().inset(16);
  const int rows = static_cast<int>(maps.size()) / columns;
  const auto panels = plot::panels({area.x, area.y, area.width - 90, area.height}, rows, columns);
  for (std::size_t i = 0; i < maps.size(); ++i) plot::draw(canvas, panels[i], maps[i]);
  plot::draw_colour_bar(canvas, {area.right() - 70, area.y + 60, 70, area.height - 120},
                        plot::ColourMap::blues, 0, 1, "attention weight");
  plot::write_png(canvas, path);
}

void draw_heads(const Safetensors& seen) {
  const Words words = split_words(seen.metadata.at("grammar"));
  std::vector<plot::Heatmap> maps;
  for (Index head = 0; head < heads; ++head) {
    const Tensor map = squeeze(slice(seen["grammar.example"], 0, head, head + 1), 0);
    maps.push_back(attention_heatmap(map, words, words, "head " + std::to_string(head)));
    maps.back().row_axis = "query: the hidden word";
    maps.back().column_axis = "key: the word it looks at";
    maps.back().colour_bar = false;
  }
  write_grid(maps, 2, 960, 900, "out/plots/phase2_multi_head_grid.png");
}

// For each head the mean of - sum w ln w over all rows of weights (..., heads, length, length):
// 0 if each row is one word, ln length if it is spread evenly.
std::vector<double> entropies(const Tensor& weights) {
  const Tensor positive = maximum(weights, 1e-30);  // 0 ln 0 is 0
  return doubles(mean(-sum(positive * log(positive), -1), {0, 2}));
}

void draw_entropy(const Safetensors& seen) {
  const std::vector<double> trained = entropies(seen["grammar.trained"]);
  const std::vector<double> untrained = entropies(seen["grammar.untrained"]);
  const double uniform = std::log(6);
  std::printf("Entropy in nats, mean of 1800 hidden words; e^entropy: as if among so many words\n");
  std::printf("        trained  e^entropy   untrained   uniform\n");
  plot::BarChart chart;
  for (std::size_t head = 0; head < trained.size(); ++head) {
    std::printf("head %zu %8.2f %10.1f %11.2f %9.2f\n", head, trained[head],
                std::exp(trained[head]), untrained[head], uniform);
    chart.labels.push_back(std::to_string(head));
  }
  chart.title = "How widely each head looks";
  chart.subtitle = "mean entropy of its weights over the words of 300 sentences";
  chart.label_axis = "head";
  chart.y_axis.name = "entropy (nats)";
  chart.y_axis.high = 2;
  chart.series = {{"trained", trained}, {"untrained", untrained}};
  chart.reference_lines = {{uniform, "uniform: ln 6"}};
  plot::write_png(plot::render(chart), "out/plots/phase2_attention_entropy.png");
}

// Mean weight of each head of `answer` (heads, rows, keys) on those letters of the prompt that the
// row says; key p + 1 is letter p.
std::vector<double> weight_on_said(const Tensor& answer, const Words& words, Index given) {
  Tensor marks = Tensor::zeros({answer.size(1), answer.size(2)});
  for (Index row = 0; row < answer.size(1); ++row) {
    for (Index p = 0; p < given - 1; ++p) {
      const bool same =
          words[static_cast<std::size_t>(p)] == words[static_cast<std::size_t>(given + row)];
      marks.set({row, p + 1}, same ? 1 : 0);
    }
  }
  return doubles(mean(sum(answer * marks, -1), -1));
}

// The rows of the answer, of that head in layer 1 which looks most at the letters to be said.
plot::Heatmap task_map(const Safetensors& seen, const std::string& name) {
  const Words words = split_words(seen.metadata.at(name));
  const auto given = static_cast<Index>(std::stoi(seen.metadata.at(name + ".given")));
  const auto length = static_cast<Index>(words.size());
  const Tensor all = squeeze(seen[name + ".1"], 0);  // (heads, length + 1, length + 1)
  const Tensor answer = slice(slice(all, 1, given, length), 2, 0, length);
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

}  // namespace

int main() try {
  std::printf("Step 24: pictures of heads (takes about a second)\n\n");
  if (!std::filesystem::exists(file)) {
    throw Error(file + " is not there yet: step 23 trains the heads and saves what they looked " +
                "at. Type: make run-23");
  }
  const Safetensors seen = read_safetensors(file);
  draw_heads(seen);
  draw_entropy(seen);
  std::vector<plot::Heatmap> maps;
  for (const char* name : {"copy", "reverse", "sort", "induction"}) {
    maps.push_back(task_map(seen, name));
  }
  write_grid(maps, 2, 1440, 800, "out/plots/phase2_tasks.png");
  std::printf("\nwrote out/plots/phase2_multi_head_grid.png, phase2_attention_entropy.png\n");
  std::printf("and phase2_tasks.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
