// Step 24. How do several heads look beside each other?
//
// New here: one map per head on one scale, and entropy, a number for how widely a head spreads its
// weight. Nothing is trained: what step 23 saw is read from its file and drawn.
// Reads the patterns of step 23; writes out/plots/phase2_multi_head_grid.png and
// out/plots/phase2_attention_entropy.png; takes about a second.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/saved.hpp"
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

constexpr Index heads = 4;

// Panels side by side, in rows, and one colour bar for all.
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
    const Tensor map = squeeze(slice(seen["grammar.example"], 0, head, head + 1), 0);  // (6, 6)
    maps.push_back(attention_heatmap(map, words, words, "head " + std::to_string(head)));
    maps.back().row_axis = "query: the hidden word";
    maps.back().column_axis = "key: the word it looks at";
    maps.back().colour_bar = false;
  }
  write_grid(maps, 2, 960, 900, "out/plots/phase2_multi_head_grid.png");
}

// For each head the mean of - sum w ln w over all rows of weights (300, heads, 6, 6): 0 if each row
// is one word, ln 6 if it is spread evenly.
std::vector<double> entropies(const Tensor& weights) {
  const Tensor positive = maximum(weights, 1e-30);                   // like weights; 0 ln 0 is 0
  return doubles(mean(-sum(positive * log(positive), -1), {0, 2}));  // (heads)
}

void draw_entropy(const Safetensors& seen) {
  const std::vector<double> trained = entropies(seen["grammar.trained"]);
  const std::vector<double> untrained = entropies(seen["grammar.untrained"]);
  const double uniform = std::log(6);
  std::printf(
      "Entropy in nats, mean of 1800 hidden words; e^entropy: as if spread evenly over so many "
      "words\n");
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
  chart.series = {{"", trained}};
  chart.reference_lines = {{uniform, "uniform: ln 6 (the untrained heads lie on it)"}};
  plot::write_png(plot::render(chart), "out/plots/phase2_attention_entropy.png");
}

}  // namespace

int main() try {
  std::printf("Step 24: pictures of heads (takes about a second)\n\n");
  const Safetensors seen =
      read_saved("out/weights/multi_head_patterns.safetensors",
                 "step 23 trains the heads and saves what they looked at. Type: make run-23");
  draw_heads(seen);
  draw_entropy(seen);
  std::printf("\nwrote out/plots/phase2_multi_head_grid.png\n");
  std::printf("and out/plots/phase2_attention_entropy.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
