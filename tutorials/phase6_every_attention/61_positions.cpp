// Step 61. What happens beyond the length that a model was trained on?
//
// New here: six ways to tell positions are trained on texts of 16 words and tested on up to 64, on
// two tasks: one asks for a distance, the other for what is nearest.
// Writes out/plots/phase6_positions.png; takes about 15 seconds.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index width = 32;

constexpr Index letters = 16, trained = 16, last = 8, seeds = 3;
const std::vector<Index> lengths = {16, 24, 32, 48, 64};
const std::vector<std::string> schemes = {"learned", "sinusoidal", "none",
                                          "rotary",  "relative",   "alibi"};
enum Task { three_back, latest };  // say the word three back; say the latest of a, b, c, d
const char* const task_names[] = {"the word three back", "the latest of a, b, c and d"};

struct Texts {
  Indices words, answers;
};

Texts texts(Task task, Index rows, Index length, Random& random) {
  Texts all{
      Indices({rows, length}, std::vector<std::int32_t>(static_cast<std::size_t>(rows * length))),
      {}};
  for (std::int32_t& word : all.words.values) {
    word = static_cast<std::int32_t>(random.randint(letters));
  }
  all.answers = all.words;
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t* const words = &all.words.values[static_cast<std::size_t>(row * length)];
    for (Index i = 0; i < length; ++i) {
      Index from = task == three_back ? i - 3 : i;
      while (task == latest && from >= 0 && words[from] >= 4) --from;
      all.answers.values[static_cast<std::size_t>(row * length + i)] = from >= 0 ? words[from] : -1;
    }
  }
  return all;
}

Transformer trained_model(Task task, Positions positions, Index seed) {
  Random random{static_cast<std::uint64_t>(seed), 0};
  Transformer model({.vocab_size = letters,
                     .max_length = lengths.back(),  // what is learned beyond 16 is never trained
                     .d_model = width,
                     .has_feed_forward = false,
                     .positions = positions,
                     .initializer = init::lecun_normal},
                    random);
  Adam adam(model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data{static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(step)};
    const Texts t = texts(task, 32, trained, data);   // (32, trained)
    return cross_entropy(model(t.words), t.answers);  // logits (32, trained, letters)
  };
  TrainingOptions options{.steps = 300};
  options.learning_rate = [](Index step) {
    return cosine_schedule(step, {.peak = 5e-3, .floor = 2e-4, .warmup_steps = 20, .steps = 300});
  };
  options.what =
      std::string(task_names[task]) + ", " + schemes[static_cast<std::size_t>(positions)];
  train(adam, loss_of_step, options);
  return model;
}

// The share of right answers at the last eight positions of texts that were never seen.
double accuracy(const Transformer& model, Task task, Index length) {
  Random random{1000, static_cast<std::uint64_t>(length)};
  const Texts t = texts(task, 128, length, random);            // (128, length)
  const std::vector<double> logits = doubles(model(t.words));  // (128, length, letters)
  double right = 0, count = 0;
  for (std::size_t at = 0; at < t.answers.values.size(); ++at) {
    if (static_cast<Index>(at) % length < length - last || t.answers.values[at] < 0) continue;
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(at) * letters;
    right += std::max_element(begin, begin + letters) - begin == t.answers.values[at];
    count += 1;
  }
  return right / count;
}

// Shares of right answers, one for each seed and length.
Tensor measure(Task task, Positions positions) {
  Tensor shares = Tensor::zeros({seeds, static_cast<Index>(lengths.size())});  // (seeds, lengths)
  for (Index seed = 0; seed < seeds; ++seed) {
    const Transformer model = trained_model(task, positions, seed);
    for (Index i = 0; i < shares.size(1); ++i) {
      shares.set({seed, i}, accuracy(model, task, lengths[static_cast<std::size_t>(i)]));
    }
  }
  return shares;
}

// Trains all, prints a table, and returns the chart. `furthest`: up to how many words each scheme
// is right four times of five.
plot::LineChart compare(Task task, double chance, std::vector<Index>& furthest) {
  std::printf("\n%s: share of right answers at the last %d words\n", task_names[task],
              static_cast<int>(last));
  std::printf("%-12s      16     24     32     48     64 words   seeds differ by   0.8 up to\n",
              "");
  plot::LineChart chart;
  chart.title = std::string("Say ") + task_names[task];
  chart.subtitle = "trained on 16 words; mean of three seeds";
  chart.x_axis = {.name = "words", .low = 10, .high = 65};
  chart.y_axis = {.name = "right at the last eight words", .low = 0, .high = 1.02};
  for (std::size_t s = 0; s < schemes.size(); ++s) {
    const Tensor shares = measure(task, static_cast<Positions>(s));  // (seeds, lengths)
    const std::vector<double> means = doubles(mean(shares, 0));      // (lengths)
    std::printf("%-12s", schemes[s].c_str());
    for (const double share : means) std::printf("  %5.2f", share);
    std::size_t holds = 0;  // at how many lengths, from the shortest on
    while (holds < lengths.size() && means[holds] >= 0.8) ++holds;
    furthest.push_back(holds == 0 ? 0 : lengths[holds - 1]);
    std::printf("             %5.2f         %2d\n",
                double{max(max(shares, 0) - min(shares, 0)).item()},
                static_cast<int>(furthest.back()));
    chart.series.push_back({.name = schemes[s],
                            .x = std::vector<double>(lengths.begin(), lengths.end()),
                            .y = means,
                            .markers = true});
  }
  std::printf("%-12s  %5.2f\n", "guessing", chance);
  chart.reference_lines = {{chance, "guessing"}};
  return chart;
}

plot::LineChart chart_of(const char* title, const std::vector<std::string>& names,
                         const std::vector<Tensor>& curves) {
  plot::LineChart chart;
  chart.title = title;
  chart.x_axis.name = "position";
  const std::vector<double> positions = doubles(Tensor::arange(curves[0].count()));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    chart.series.push_back({.name = names[i], .x = positions, .y = doubles(curves[i])});
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
  plot::draw(
      canvas, panels[0],
      chart_of("Sinusoids: four of 32 columns", {"sine 0", "sine 4", "sine 8", "sine 12"}, sines));
  plot::Heatmap map;
  map.rows = 65;
  map.columns = width;
  map.values = doubles(p);
  map.title = "All columns, sines and cosines by turns";
  map.row_axis = "position";
  map.column_axis = "column";
  map.colours = plot::ColourMap::blue_orange;
  plot::draw(canvas, panels[1], map);
  plot::LineChart alike =
      chart_of("How alike positions m and n are", {"m = 0", "m = 20", "m = 50"}, products);
  alike.subtitle = "p(m) · p(n): one curve, moved to where n = m";
  alike.x_axis.name = "position n";
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
  const plot::LineChart first = compare(three_back, 1.0 / letters, a);
  const plot::LineChart second = compare(latest, 0.25, b);
  for (const Index length : {16, 32, 64}) {
    std::string right;
    for (std::size_t i = 0; i < schemes.size(); ++i) {
      if (std::min(a[i], b[i]) >= length) right += " " + schemes[i];
    }
    std::printf("ANSWER: 0.8 or more on both tasks up to %d words:%s\n", static_cast<int>(length),
                right.empty() ? " nobody" : right.c_str());
  }
  draw(first, second);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
