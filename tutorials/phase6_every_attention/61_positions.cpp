// Step 61. What happens beyond the length that a model was trained on?
//
// New here: six ways to tell positions are trained on texts of 16 words and tested on up to 64, on
// two tasks (course/beyond_length.hpp): one asks for a distance, the other for what is nearest.
// Beside them stands what can be had without order (step 57). At the end three schemes are asked
// again: what harms beyond 16 words?
// Writes out/plots/phase6_positions.png; takes about 15 seconds.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "course/beyond_length.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;
using namespace tapestry::beyond_length;

namespace {

constexpr Index width = 32, seeds = 3, steps = 300;

// One for each seed.
std::vector<Transformer> train_all(Task task, Positions positions) {
  std::vector<Transformer> models;
  for (Index seed = 0; seed < seeds; ++seed) {
    models.push_back(trained_model(task, positions, seed, steps));
  }
  return models;
}

// Shares of right answers, one for each seed and length, if words see only what `mask` allows.
Tensor measure(Task task, const std::vector<Transformer>& models, const Mask& mask = {}) {
  Tensor shares = Tensor::zeros({seeds, static_cast<Index>(lengths.size())});  // (seeds, lengths)
  for (Index i = 0; i < shares.size(1); ++i) {
    const Index length = lengths[static_cast<std::size_t>(i)];
    for (Index seed = 0; seed < seeds; ++seed) {
      const Transformer& model = models[static_cast<std::size_t>(seed)];
      shares.set({seed, i}, share_right(model, task, length, mask));
    }
  }
  return shares;
}

// Texts of 16 words have places and distances 0 to 15: rows and buckets above stay untrained.
void zero_untrained(Transformer& model) {
  const auto set = [](Tensor& table, Index first) {
    for (Index row = first; row < table.size(0); ++row) {
      for (Index i = 0; i < table.size(1); ++i) table.set({row, i}, 0);
    }
  };
  if (model.positions) set(model.positions->weight, trained);
  for (TransformerBlock& block : model.blocks) {
    if (!block.attention.relative) continue;
    set(block.attention.relative->table.weight, relative_bucket(1 - trained, true) + 1);
  }
}

// Asks trained models again, with something changed. Returns the lines, to be printed later.
std::string with_changes(Task task, Positions positions, std::vector<Transformer>& models) {
  std::string text;
  const auto ask = [&](const char* what, const Mask& mask) {
    text += formatted("%-11s%-23s", schemes[std::size_t(positions)].c_str(), what);
    for (const double share : doubles(mean(measure(task, models, mask), 0))) {
      text += formatted("  %4.2f", share);
    }
    text += std::string("   ") + task_names[task] + "\n";
  };
  const bool has_table = positions == Positions::learned || positions == Positions::relative;
  if (!has_table && positions != Positions::rotary) return text;
  const std::vector<NamedMask> seen = masks();
  ask(seen[0].name, seen[0].mask);
  if (has_table) {
    for (Transformer& model : models) zero_untrained(model);
    ask("untrained numbers are 0", {});
  } else {
    for (const NamedMask& one : {seen[1], seen[2]}) ask(one.name, one.mask);
  }
  return text;
}

// The mean over the seeds as a line, each seed as dots.
void add_lines(plot::LineChart& chart, const std::string& name, const Tensor& shares,
               plot::Colour colour) {
  const std::vector<double> x(lengths.begin(), lengths.end());
  for (const Tensor& seed : split(shares, seeds, 0)) {  // (1, lengths)
    chart.series.push_back({"", x, doubles(seed), false, true, false, colour});
  }
  chart.series.push_back({name, x, doubles(mean(shares, 0)), true, false, false, colour});
}

// The best that can be done if one knows which words a place sees, and which is its own, but not
// their order: its own where that is right, else the most frequent of those that can be right.
double best_without_order(Task task, Index length) {
  Random random{1001, static_cast<std::uint64_t>(length)};
  const Texts drawn = texts(task, 2000, length, random);  // (2000, length)
  const std::vector<std::int32_t>& words = drawn.words.values;
  double right = 0, asked = 0;
  for (std::size_t begin = 0; begin < words.size(); begin += std::size_t(length)) {
    std::array<int, letters> count{};
    for (std::size_t i = 0; i < std::size_t(length); ++i) {
      const std::int32_t own = words[begin + i], answer = drawn.answers.values[begin + i];
      if (answer >= 0 && static_cast<Index>(i) >= length - last) {
        const bool says_own = task == latest && own < 4;
        const auto most = std::max_element(count.begin(), count.end()) - count.begin();
        right += answer == (says_own ? own : most);
        asked += 1;
      }
      if (task == three_back || own < 4) ++count[std::size_t(own)];
    }
  }
  return right / asked;
}

void add_without_order(plot::LineChart& chart, Task task) {
  plot::Series line{"without order", {lengths.begin(), lengths.end()}, {}};
  for (const Index length : lengths) line.y.push_back(best_without_order(task, length));
  std::printf("%-13s", line.name.c_str());
  for (const double share : line.y) std::printf("  %5.2f", share);
  std::printf("\n");
  line.colour = plot::theme::faded;
  chart.series.push_back(line);
}

// Trains all, prints a table, and returns the chart. `furthest`: up to how many words each scheme
// is right four times of five. `again`: lines of with_changes().
plot::LineChart compare(Task task, double chance, std::vector<Index>& furthest,
                        std::string& again) {
  std::printf("\n%s: share of right answers at the last %d words\n", task_names[task],
              static_cast<int>(last));
  std::printf("%-13s      16     24     32     48     64 words   seeds differ by   0.8 up to\n",
              "");
  plot::LineChart chart;
  chart.title = std::string("Say ") + task_names[task];
  chart.subtitle = "trained on 16 words; lines: means, dots: three seeds";
  chart.x_axis = {.name = "words", .low = 10, .high = 65};
  chart.y_axis = {.name = "right at the last eight words", .low = 0, .high = 1.02};
  for (std::size_t s = 0; s < schemes.size(); ++s) {
    std::vector<Transformer> models = train_all(task, static_cast<Positions>(s));
    const Tensor shares = measure(task, models);                 // (seeds, lengths)
    const std::vector<double> means = doubles(mean(shares, 0));  // (lengths)
    again += with_changes(task, static_cast<Positions>(s), models);
    std::printf("%-13s", schemes[s].c_str());
    for (const double share : means) std::printf("  %5.2f", share);
    std::size_t holds = 0;  // at how many lengths, from the shortest on
    while (holds < lengths.size() && means[holds] >= 0.8) ++holds;
    furthest.push_back(holds == 0 ? 0 : lengths[holds - 1]);
    std::printf("             %5.2f         %2d\n",
                double{max(max(shares, 0) - min(shares, 0)).item()}, int(furthest.back()));
    add_lines(chart, schemes[s], shares, plot::series_colour(s));
  }
  add_without_order(chart, task);
  std::printf("%-13s  %5.2f\n", "guessing", chance);
  chart.reference_lines = {{chance, "guessing"}};
  return chart;
}

// In shades of orange, which is the colour of sinusoids in all panels.
plot::LineChart chart_of(const char* title, const std::vector<Tensor>& curves) {
  plot::LineChart chart;
  chart.title = title;
  chart.x_axis.name = "position";
  const std::vector<double> positions = doubles(Tensor::arange(curves[0].count()));
  const double last = static_cast<double>(curves.size()) - 1;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    plot::Series curve{"", positions, doubles(curves[i])};
    const double shade = 0.42 + 0.5 * static_cast<double>(i) / last;
    curve.colour = plot::colour_at(plot::ColourMap::oranges, shade);
    chart.series.push_back(curve);
  }
  return chart;
}

void draw_sinusoids(plot::Canvas& canvas, const std::vector<plot::Rect>& panels) {
  const Tensor p = sinusoidal_positions(65, width);  // (65, width)
  std::vector<Tensor> sines, products;
  for (const Index column : {0, 4, 8, 12}) sines.push_back(slice(p, 1, column, column + 1));
  for (const Index m : {0, 20, 50}) {
    products.push_back(matmul(p, transpose(slice(p, 0, m, m + 1))));  // (65, 1)
  }
  plot::LineChart columns = chart_of("Sinusoids: four of 32 columns", sines);
  columns.end_labels = true;
  for (std::size_t i = 0; i < 4; ++i) columns.series[i].name = "sine " + std::to_string(4 * i);
  plot::draw(canvas, panels[0], columns);
  plot::Heatmap map;
  map.rows = 65;
  map.columns = width;
  map.values = doubles(p);
  map.title = "All columns, sines and cosines by turns";
  map.row_axis = "position";
  map.column_axis = "column";
  map.colours = plot::ColourMap::oranges;
  map.low = -1;
  plot::draw(canvas, panels[1], map);
  plot::LineChart alike = chart_of("How alike positions m and n are", products);
  alike.subtitle = "p(m) · p(n): one curve, moved to where n = m";
  alike.x_axis.name = "position n";
  alike.y_axis = {.name = "", .low = 0, .high = 18};
  for (const int m : {0, 20, 50}) {  // each curve is named at its peak
    alike.annotations.push_back({double(m), width / 2.0, "m = " + std::to_string(m), false});
  }
  plot::draw(canvas, panels[2], alike);
}

void draw(const plot::LineChart& first, const plot::LineChart& second) {
  plot::Canvas canvas(1560, 1020);
  const std::vector<plot::Rect> rows = plot::panels(canvas.area().inset(16), 2, 1);
  draw_sinusoids(canvas, plot::panels(rows[0], 1, 3));
  const std::vector<plot::Rect> bottom = plot::panels(rows[1], 1, 2);
  plot::draw(canvas, bottom[0], first);
  plot::draw(canvas, bottom[1], second);
  plot::write_png(canvas, "out/plots/phase6_positions.png");
  std::printf("\nWrote out/plots/phase6_positions.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 61: positions beyond the length of training (takes about 15 seconds)\n\n");
  try {
    Random random(1);
    const Transformer model({.vocab_size = letters, .max_length = trained}, random);
    model(Indices({17}, std::vector<std::int32_t>(17, 0)));
  } catch (const Error& error) {
    std::printf("17 words for a model with 16 learned positions:\n%s\n", error.what());
  }
  std::vector<Index> a, b;
  std::string again;
  const plot::LineChart first = compare(three_back, 1.0 / letters, a, again);
  const plot::LineChart second = compare(latest, 0.25, b, again);
  for (const Index length : {16, 32, 64}) {
    std::string right;
    for (std::size_t i = 0; i < schemes.size(); ++i) {
      if (std::min(a[i], b[i]) >= length) right += " " + schemes[i];
    }
    std::printf("ANSWER: 0.8 or more on both tasks up to %d words:%s\n", static_cast<int>(length),
                right.empty() ? " nobody" : right.c_str());
  }
  std::printf("\nThe trained models are asked again, with something changed:\n");
  std::printf("                                      16    24    32    48    64 words\n%s",
              again.c_str());
  draw(first, second);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
