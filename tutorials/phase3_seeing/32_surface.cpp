// Step 32. What does a map of attention look like as a landscape?
//
// New here: height in place of colour. One head of the induction model, while it reads letters and
// then the same letters again, as bars on a table that turns around once. And what does such a
// picture hide? Each bar is made a little lower: where no pixel changes, nobody can see it.
// Reads the induction model of step 26; writes out/plots/phase3_3d_attention.gif; takes about
// 5 seconds.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "course/inside.hpp"
#include "course/tasks.hpp"
#include "tapestry/analysis/rollout.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/transformer_file.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/gif.hpp"
#include "tapestry/plot/surface.hpp"

using namespace tapestry;

namespace {

constexpr double tilt = 38;
constexpr Index head = 1;  // of layer 1: the one of step 26 that looks most at the answer
const TinyTask task(TaskKind::induction, {.longest = 6});

// The rows of the letters. (<bos> sees only itself, and after the last letter there is nothing to
// predict.) Keys that the causal mask hides have the height 0.
plot::Heatmap look(const Transformer& model, Words words) {
  words.pop_back();
  const Capture seen;
  model(next_word_batch(task.vocabulary(), {words}).inputs, {},
        {.need_weights = true});  // (1, length + 1, vocabulary)
  const auto length = static_cast<Index>(words.size());
  const Tensor layer = squeeze(captured_weights(seen)[1], 0);  // (heads, length + 1, length + 1)
  const Tensor one = squeeze(slice(layer, 0, head, head + 1), 0);  // (length + 1, length + 1)
  Words keys = words;
  keys.insert(keys.begin(), "<bos>");
  plot::Heatmap map =  // (length, length + 1)
      attention_heatmap(slice(one, 0, 1, length + 1), words, keys, "Attention as a landscape");
  map.subtitle = "head 1." + std::to_string(head) +
                 "; height and colour: the weight, 0 on the floor; cross: masked";
  map.colour_bar = false;  // the height has a scale
  map.row_axis = "query";
  map.column_axis = "key";
  map.colours = plot::ColourMap::viridis;
  for (Index query = 1; query <= length; ++query) {
    for (Index key = 0; key <= length; ++key) map.masked.push_back(key > query);
  }
  return map;
}

// The highest bar of each row. Letter i of the repetition is to be followed by letter i + 1.
void print_highest(const plot::Heatmap& map, Index given) {
  std::printf("query   highest bar    weight\n");
  int right = 0;
  const auto columns = static_cast<std::size_t>(map.columns);
  for (std::size_t query = 0; query < map.row_labels.size(); ++query) {
    const auto row = map.values.begin() + static_cast<std::ptrdiff_t>(query * columns);
    const auto best = std::max_element(row, row + map.columns);
    const auto key = static_cast<std::size_t>(best - row);
    const bool repeated = static_cast<Index>(query) >= given - 1;
    const bool found = repeated && key == query + 3 - static_cast<std::size_t>(given);
    right += found ? 1 : 0;
    std::printf("%zu %-5s %zu %-11s %6.2f%s\n", query + 1, map.row_labels[query].c_str(), key,
                map.column_labels[key].c_str(), *best, found ? "   the letter to be said" : "");
  }
  std::printf("The ridge: %d of the %d last rows have their highest bar on the letter to be said\n",
              right, static_cast<int>(map.rows - given + 1));
}

bool same(const plot::Canvas& a, const plot::Canvas& b) {
  return std::equal(a.pixels().begin(), a.pixels().end(), b.pixels().begin());
}

// How many bars cannot be seen from there.
int hidden_bars(const plot::Heatmap& map, double turn) {
  const auto picture = [&](const plot::Heatmap& one) {
    return plot::render_surface(one, {turn, tilt}, {420, 380}, 1);
  };
  const plot::Canvas before = picture(map);
  int hidden = 0;
  for (std::size_t at = 0; at < map.values.size(); ++at) {
    if (map.masked[at]) continue;
    plot::Heatmap changed = map;
    double& height = changed.values[at];
    height += height < 0.03 ? 0.03 : -0.03;
    hidden += same(before, picture(changed)) ? 1 : 0;
  }
  return hidden;
}

void print_hidden(plot::Heatmap map) {
  map.title = map.subtitle = "";
  const auto bars = std::count(map.masked.begin(), map.masked.end(), false);
  std::printf("\nOf %td bars, how many are wholly hidden behind others, by turn of the table\n",
              bars);
  std::vector<int> hidden;
  for (int turn = 0; turn < 360; turn += 30) {
    std::printf("%4d°", turn);
    hidden.push_back(hidden_bars(map, turn));
  }
  std::printf("\n");
  for (const int number : hidden) std::printf("%4d ", number);
  std::printf("\nAt the worst turn %d, at %td of 12 turns none. A flat map hides none, ever.\n",
              *std::max_element(hidden.begin(), hidden.end()),
              std::count(hidden.begin(), hidden.end(), 0));
}

}  // namespace

int main() try {
  std::printf("Step 32: a landscape (takes about 5 seconds)\n\n");
  const Transformer model = read_transformer("out/checkpoints/induction_model.safetensors",
                                             "step 26 trains and saves it. Type: make run-26");
  const TaskSequence sequence = example_of(task, 5, 4);
  const plot::Heatmap map = look(model, sequence.words);
  print_highest(map, sequence.given);
  print_hidden(map);
  plot::write_gif(plot::surface_360(map, 60, tilt, {560, 520}, 1),
                  "out/plots/phase3_3d_attention.gif", 0.1);
  std::printf("\nwrote out/plots/phase3_3d_attention.gif\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
