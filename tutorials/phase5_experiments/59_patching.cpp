// Step 59. Which head carries the answer, and at which word?
//
// New here: activation patching (course/patching.hpp). Two sentences differ in one word, and so in
// what may end them: "the cat chased a small" (an insect), "the cat chewed a small" (a toy). While
// the model reads the second, one head's output at one word is replaced by what it was in the
// first. How much of the first sentence's answer comes back? Beside that the map of weights, and a
// control: the same patch from a third sentence, whose word there speaks for neither answer.
// Reads the model of step 43; writes out/plots/phase5_patching.png; takes about 2 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "course/patching.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;
using namespace tapestry::patching;

namespace {

const Words place_names = {"embedding", "layer 0, attention", "layer 0, whole",
                           "layer 1, attention", "layer 1, whole"};

// As a number to print: what would be -0.00 is 0.00.
double shown(double value) { return std::abs(value) < 0.005 ? 0 : value; }

void print_places(const Findings& f, const Pairs& list) {
  std::printf("restored, by place      <bos>");
  for (const std::string& word : list.clean.front()) std::printf(" %8s", word.c_str());
  std::printf("\n");
  for (Index place = 0; place < f.by_place.size(0); ++place) {
    std::printf("%-20s", place_names[static_cast<std::size_t>(place)].c_str());
    for (Index at = 0; at < length; ++at)
      std::printf(" %8.2f", shown(double{f.by_place.at({place, at})}));
    std::printf("\n");
  }
}

void print_heads(const Findings& f, const Pairs& list) {
  std::printf("head   restored at the last word   elsewhere at most   third word   weight\n");
  for (Index i = 0; i < f.by_head.size(0); ++i) {
    double elsewhere = 0;
    for (Index at = 0; at < length - 1; ++at)
      elsewhere = std::max(elsewhere, std::abs(double{f.by_head.at({i, at})}));
    std::printf("%s %18.2f +- %.2f %19.2f %12.2f %8.2f\n", head_name(i).c_str(),
                shown(double{f.by_head.at({i, length - 1})}), double{f.deviation.at({i})},
                elsewhere, shown(double{f.third.at({i})}), double{f.weights.at({i, list.changed})});
  }
}

// All heads of a layer at once; and whether the weights put heads in the order of what they carry.
void print_together(const Findings& f, const Patching& patching, const Pairs& list) {
  const Tensor carried = squeeze(slice(f.by_head, 1, length - 1, length), 1);  // (8)
  for (Index layer = 0; layer < 2; ++layer) {
    const auto from = [&](const std::vector<Words>& source) {
      return shown(patching.restored_by_layer(layer, source));
    };
    std::printf(
        "layer %d, all heads %.2f, added one by one %.2f; third word %.2f, same word %.2f\n",
        static_cast<int>(layer), from(list.clean),
        double{sum(slice(carried, 0, layer * heads, (layer + 1) * heads)).item()}, from(list.third),
        from(list.same_word));
  }
  std::printf("rank agreement of weight and restored share, over heads: %.2f\n",
              agreement(f, list));
}

plot::Heatmap heatmap(const Tensor& values, const Words& rows, const Pairs& list,
                      const std::string& title, const std::string& subtitle) {
  Words columns = {"<bos>"};
  columns.insert(columns.end(), list.clean.front().begin(), list.clean.front().end());
  columns[static_cast<std::size_t>(list.changed)] += "*";
  plot::Heatmap map = attention_heatmap(values, rows, columns, title);
  for (double& value : map.values) value = shown(value);
  map.subtitle = subtitle;
  map.row_axis = "";
  map.column_axis = "*: the word that differs";
  map.colour_bar = false;
  return map;
}

void draw(plot::Canvas& canvas, plot::Rect area, const Findings& f, const Pairs& list) {
  Words names;
  for (Index i = 0; i < 2 * heads; ++i) names.push_back(head_name(i));
  const std::vector<plot::Rect> areas = plot::panels(area, 1, 3);
  plot::draw(canvas, areas[0],
             heatmap(f.by_place, place_names, list, "Another " + list.name + ": restored",
                     "by all that was made of one word so far"));
  plot::draw(canvas, areas[1],
             heatmap(f.by_head, names, list, "Restored by one head",
                     "layer.head, its output at one word"));
  plot::draw(canvas, areas[2],
             heatmap(f.weights, names, list, "Weights of the last word",
                     "where each head looks, mean of the pairs"));
}

}  // namespace

int main() try {
  std::printf("Step 59: patching (takes about 2 seconds)\n");
  const Transformer model = read_transformer("out/checkpoints/causal_model.safetensors",
                                             "step 43 trains and saves it. Type: make run-43");
  Random random(1);
  const Transformer untrained(model.options, random);
  plot::Canvas canvas(1720, 1000, 1);
  const std::vector<plot::Rect> rows = plot::panels(canvas.area().inset(16), 2, 1);
  const Pairs lists[] = {draw_pairs("verb", Role::verb_object, 3),
                         draw_pairs("preposition", Role::preposition_place, 4)};
  for (std::size_t i = 0; i < 2; ++i) {
    const Pairs& list = lists[i];
    const Patching patching(model, list);
    std::printf("\n%zu. Another %s: %d pairs, the first \"%s\" / \"%s\"\n", i + 1,
                list.name.c_str(), pairs, Sentence{list.clean.front(), {}}.text().c_str(),
                Sentence{list.corrupted.front(), {}}.text().c_str());
    std::printf("logit difference, clean minus corrupted: %.1f; untrained model: %.1f\n",
                patching.gap(), Patching(untrained, list).gap());
    const Findings f = findings(model, patching, list);
    print_places(f, list);
    print_heads(f, list);
    print_together(f, patching, list);
    draw(canvas, rows[i], f, list);
  }
  plot::write_png(canvas, "out/plots/phase5_patching.png");
  std::printf("\nwrote out/plots/phase5_patching.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
