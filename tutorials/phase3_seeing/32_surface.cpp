// Step 32. What does a map of attention look like as a landscape?
//
// New here: height in place of colour. A head of the induction model, while it reads five letters
// twice, as bars that turn around once. What does the landscape show that the flat map does not,
// and what does it hide? Counted, by raising one bar after the other a little: where no pixel
// changes, the bar is hidden.
// Reads the induction model of step 26; writes out/plots/phase3_3d_attention.gif; takes about
// 10 seconds.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/gif.hpp"
#include "tapestry/plot/surface.hpp"
#include "tapestry/text/tasks.hpp"

using namespace tapestry;

namespace {

constexpr double tilt = 38;
const TinyTask task(TaskKind::induction, {.longest = 6});

// The map of one head of layer 1. What the mask forbids lies flat.
plot::Heatmap landscape(const Transformer& model, const Words& reads, Index head) {
  const Capture seen;
  model(task.vocabulary().ids(reads));
  const Tensor weights = filed_weights(seen)[1];
  const Tensor map = squeeze(squeeze(slice(weights, 1, head, head + 1), 1), 0);
  plot::Heatmap picture = attention_heatmap(map, reads, reads, "A head as a landscape");
  picture.subtitle = "induction model, layer 1, head " + std::to_string(head);
  picture.row_axis = "query";
  picture.column_axis = "key";
  for (Index at = 0; at < map.count(); ++at) {
    picture.masked.push_back(at % map.size(1) > at / map.size(1));
  }
  return picture;
}

void print_highest(const plot::Heatmap& map) {
  std::vector<std::size_t> order(map.values.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return map.values[a] > map.values[b]; });
  const auto columns = static_cast<std::size_t>(map.columns);
  const auto place = [](const std::vector<std::string>& words, std::size_t i) {
    return words[i] + " (" + std::to_string(i) + ")";
  };
  std::printf("The highest bars:  query       key        weight\n");
  for (std::size_t rank = 0; rank < 8; ++rank) {
    const std::size_t query = order[rank] / columns, key = order[rank] % columns;
    std::printf("%18s %-11s %-11s %5.2f\n", "", place(map.row_labels, query).c_str(),
                place(map.column_labels, key).c_str(), map.values[order[rank]]);
  }
}

bool same(const plot::Canvas& a, const plot::Canvas& b) {
  return std::equal(a.pixels().begin(), a.pixels().end(), b.pixels().begin());
}

// How many of the bars nobody sees from there.
int hidden_bars(plot::Heatmap map, double turn) {
  map.title = map.subtitle = "";
  map.colour_bar = false;
  const plot::Size size{420, 330};
  const plot::Canvas before = plot::render_surface(map, {turn, tilt}, size, 1);
  int hidden = 0;
  for (std::size_t at = 0; at < map.values.size(); ++at) {
    if (map.masked[at]) continue;
    plot::Heatmap raised = map;
    raised.values[at] = std::max(0.0, map.values[at] - 0.02);
    raised.values[at] += map.values[at] < 0.02 ? 0.02 : 0;
    hidden += same(before, plot::render_surface(raised, {turn, tilt}, size, 1)) ? 1 : 0;
  }
  return hidden;
}

}  // namespace

int main() try {
  std::printf("Step 32: a landscape (takes about 10 seconds)\n\n");
  const Transformer model = read_transformer("out/checkpoints/induction_model.safetensors",
                                             "step 26 trains and saves it. Type: make run-26");
  Random random(6);
  TaskSequence sequence = task.sequence(Part::held_out, random);
  while (sequence.given != 6) sequence = task.sequence(Part::held_out, random);
  Words reads = sequence.words;
  reads.insert(reads.begin(), "<bos>");
  const plot::Heatmap map = landscape(model, reads, 1);
  print_highest(map);
  for (double turn = 0; turn < 360; turn += 30) {
    std::printf("%4.0f %d\n", turn, hidden_bars(map, turn));
  }
  plot::write_gif(plot::surface_360(map, 60, tilt, {640, 520}, 1),
                  "out/plots/phase3_3d_attention.gif", 0.1);
  std::printf("\nwrote out/plots/phase3_3d_attention.gif\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
