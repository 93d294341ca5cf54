// Step 36. Is the map of attention true?
//
// New here: three other answers to "how much did the model take from this word", beside the weight:
// the share of the weighted values, the gradient times the weight, and what really happens to the
// right letter's logit when this one link is cut. Where the weight puts words in another order than
// the cut does, a banner says so.
// Reads the induction model of step 26; writes out/plots/phase3_faithful.png; takes about a second.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/tasks.hpp"
#include "tapestry/analysis/evidence.hpp"
#include "tapestry/analysis/faithfulness.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr int sequences = 40;
constexpr Index layer = 1;
const std::string layer_name = "blocks.1.attention";
const std::vector<std::string> columns = {"weight", "value share", "gradient x weight", "cut"};
const TinyTask task(TaskKind::induction, {.longest = 6});

Transformer read_model() {
  return read_transformer("out/checkpoints/induction_model.safetensors",
                          "steps 23 and 26 train and save them. Type: make phase2");
}

struct Look {
  Words reads;       // "<bos>" and all letters but the last
  std::string says;  // the last: the target is its logit at the last position
  LinkMaps maps;     // (1, heads, length, length) each
  Tensor heads;      // what each head does to the logit: (heads)
};

Look look(const Transformer& model, Words words) {
  Look result;
  result.says = words.back();
  words.pop_back();
  const Indices ids = next_word_batch(task.vocabulary(), {words}).inputs;  // (1, length)
  const Index length = ids.shape[1], right = task.vocabulary().id(result.says);
  const auto logit = [&] {
    return slice(slice(model(ids, {}, {.need_weights = true}), -2, length - 1, length), -1, right,
                 right + 1);  // (1, 1, 1)
  };
  result.maps = link_maps(logit, layer_name, model.blocks[layer].attention);
  result.heads = head_ablation(logit, layer_name);  // (heads)
  result.reads = words;
  result.reads.insert(result.reads.begin(), "<bos>");
  return result;
}

std::vector<Tensor> list(const LinkMaps& maps) {
  return {maps.weights, maps.value_shares, maps.gradient_times_attention, maps.ablation};
}

// The last row of one head of a map.
std::vector<real> last_row(const Tensor& map, Index head) {
  const Index length = map.size(-1);
  return slice(slice(map, 1, head, head + 1), 2, length - 1, length).values();  // (1, 1, 1, length)
}

void print(const Look& one, Index head) {
  std::printf("\n1. Head %lld, which looks from \"%s\" for what to say (\"%s\")\n",
              static_cast<long long>(head), one.reads.back().c_str(), one.says.c_str());
  std::printf("word    weight  value share  gradient x weight     cut\n");
  std::vector<std::vector<real>> rows;
  for (const Tensor& map : list(one.maps)) rows.push_back(last_row(map, head));
  for (std::size_t j = 0; j < one.reads.size(); ++j) {
    std::printf("%-6s %7.2f %12.2f %18.2f %7.2f\n", one.reads[j].c_str(), double{rows[0][j]},
                double{rows[1][j]}, double{rows[2][j]}, double{rows[3][j]});
  }
}

// How far each map puts the words in the order of the cut, over many sequences; and whether the
// map of weights needs its banner. The sizes of effects are compared, not their signs.
std::vector<double> print_agreement(const Transformer& model) {
  std::vector<std::vector<Tensor>> agreement(columns.size() - 1);  // by column, (1, heads) each
  std::vector<Tensor> effects;                                     // (heads) each
  Random random(3);
  for (int i = 0; i < sequences; ++i) {
    const Look one = look(model, task.sequence(Part::held_out, random).words);
    const auto size = [](const Tensor& x) { return maximum(x, -x); };  // like x
    const std::vector<Tensor> maps = list(one.maps);
    for (std::size_t c = 0; c < agreement.size(); ++c) {
      agreement[c].push_back(rank_agreement(size(maps[c]), size(maps.back()), Mask::causal()));
    }
    effects.push_back(one.heads);
  }
  std::printf("\n2. Rank agreement with the cut, %d sequences; and the whole head cut\n",
              sequences);
  std::printf("head   weight  value share  gradient x weight    head cut: logit falls by\n");
  std::vector<double> of_weights;
  for (Index head = 0; head < model.options.num_heads; ++head) {
    std::printf("%lld    ", static_cast<long long>(head));
    for (std::size_t c = 0; c < agreement.size(); ++c) {
      const double mean = spread(slice(concat(agreement[c], 0), 1, head, head + 1)).mean;
      std::printf("%9.2f   ", mean);
      if (c == 0) of_weights.push_back(mean);
    }
    const Spread fall = spread(slice(stack(effects, 0), 1, head, head + 1));  // of (sequences, 1)
    std::printf("%12.2f +- %.2f%s\n", fall.mean, fall.deviation,
                maps_disagree(of_weights.back()) ? "   THE MAP MISLEADS" : "");
  }
  return of_weights;
}

// A strip for each head: what the last position took, by four measures, each divided by its
// greatest.
void draw(const Look& one, const std::vector<double>& agreement) {
  plot::Canvas canvas(1240, 660, 1.5);
  const std::vector<plot::Rect> areas = plot::panels(canvas.area().inset(16), 2, 2);
  for (std::size_t head = 0; head < areas.size(); ++head) {
    plot::Heatmap map;
    for (const Tensor& measure : list(one.maps)) {
      const std::vector<real> row = last_row(measure, static_cast<Index>(head));
      double greatest = 1e-12;
      for (const real value : row) greatest = std::max(greatest, std::abs(double{value}));
      for (const real value : row) map.values.push_back(double{value} / greatest);
    }
    map.rows = static_cast<std::int64_t>(columns.size());
    map.columns = static_cast<std::int64_t>(one.reads.size());
    map.row_labels = columns;
    map.column_labels = one.reads;
    map.title = "Head " + std::to_string(head);
    map.subtitle = maps_disagree(agreement[head]) ? "weights and cuts DISAGREE on most sequences"
                                                  : "weights and cuts agree on most sequences";
    map.row_axis = "";
    map.column_axis = "key, for the last query";
    map.colours = plot::ColourMap::blue_orange;
    map.low = -1;
    map.high = 1;
    map.colour_bar = false;
    plot::draw(canvas, areas[head], map);
  }
  plot::write_png(canvas, "out/plots/phase3_faithful.png");
}

}  // namespace

int main() try {
  std::printf("Step 36: is the map true? (takes about a second)\n");
  const Transformer model = read_model();
  Random random(6);
  TaskSequence sequence = task.sequence(Part::held_out, random);
  while (sequence.given != 6) sequence = task.sequence(Part::held_out, random);
  const Look one = look(model, sequence.words);
  print(one, 1);
  draw(one, print_agreement(model));
  std::printf("\nwrote out/plots/phase3_faithful.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
