// Step 61. How can attention know where a word stands, and what happens beyond the length that it
// was trained on?
//
// New here: sinusoids looked at closely, rotary positions, and biases by distance (T5, ALiBi). Six
// ways to tell positions are trained on 16 words and tested on up to 64, on two tasks.
// Writes out/plots/phase6_positions.png; takes about 15 seconds.
#include <algorithm>
#include <cmath>
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

double number(const Tensor& x) { return double{x.item()}; }

const char* if_small(double error) { return error < 1e-4 ? "less than 1e-4" : "TOO MUCH"; }

void sinusoids() {
  std::printf(
      "1. Sinusoids count as binary digits do: each pair changes more slowly than the last\n");
  std::printf("position   binary   sines of base 8, width 6\n");
  const Tensor p = sinusoidal_positions(8, 6, 0, 8);
  for (Index i = 0; i < 8; ++i) {
    const int at = static_cast<int>(i);
    std::printf("%8d   %d %d %d    %5.2f %5.2f %5.2f\n", at, at / 4, at / 2 % 2, at % 2,
                double{p.at({i, 4})}, double{p.at({i, 2})}, double{p.at({i, 0})});
  }
  // As (cosine, sine) pairs a position is a point on each circle, and rotary() turns it.
  const auto as_pairs = [](const Tensor& x) {
    return unsqueeze(concat({slice(x, 1, 1, width, 2), slice(x, 1, 0, width, 2)}, 1), 1);
  };
  const Tensor all = sinusoidal_positions(1024, width);
  double error = 0;
  for (const Index k : {1, 7, 100, 500}) {
    const Tensor turned = rotary(as_pairs(slice(all, 0, 0, 1024 - k)), RotaryLayout::half_split, k);
    error = std::max(error, largest_difference(turned, as_pairs(slice(all, 0, k, 1024))));
  }
  std::printf("\nTurned by k, position m becomes m + k, whatever m: error %s\n", if_small(error));
  const Tensor products = matmul(all, transpose(all));
  const Tensor alike = where(Tensor::eye(1024), 0, products);
  std::printf("p(m) . p(m) is %.2f; of 1024 different positions the most alike two: %.2f\n",
              double{products.at({0, 0})}, number(max(alike)));
  std::printf("p(m) . p(m + k) for m = 0 to 999, smallest and largest:\n");
  for (const Index k : {1, 5, 20}) {
    const Tensor row = sum(slice(all, 0, 0, 1000) * slice(all, 0, k, 1000 + k), -1);
    std::printf("   k = %2d   %.3f  %.3f\n", static_cast<int>(k), number(min(row)),
                number(max(row)));
  }
}

// Scores of one query word and one key word that are three positions apart, in twenty places.
void print_spread(const char* name, const std::function<Tensor(Index place)>& score) {
  double low = INFINITY, high = -INFINITY;
  for (Index place = 0; place < 20; ++place) {
    const double s = number(score(place));
    low = std::min(low, s), high = std::max(high, s);
  }
  std::printf("   %-38s %6.3f %6.3f\n", name, low, high);
}

// A guide prints PositionalEncoding with d_model / 2 angles, rounded up, and 5000 rows.
void printed_code() {
  std::printf("A guide's code:  pe[:, 1::2] = torch.cos(position * div_term)   for d_model = 5\n");
  const auto complain = [](const Tensor& a, const Tensor& b) {
    try {
      a + b;
    } catch (const Error& error) {
      std::printf("   %s\n", error.what());
    }
  };
  const Index angles = 3;  // what arange(0, 5, 2) counts
  complain(slice(Tensor::zeros({5000, 5}), 1, 1, 5, 2), Tensor::zeros({5000, angles}));
  std::printf("                 return x + self.pe[:, :x.size(1)]   for 6000 words\n");
  complain(Tensor::zeros({1, 6000, 4}), Tensor::zeros({1, 5000, 4}));
  std::printf("Here: %s and %s\n", to_string(sinusoidal_positions(8, 5).shape()).c_str(),
              to_string(sinusoidal_positions(6000, 4).shape()).c_str());
}

void rotations() {
  constexpr RotaryLayout pairs = RotaryLayout::interleaved, halves = RotaryLayout::half_split;
  Random random(4);
  const Tensor x = random.normal({1, 8}), y = random.normal({1, 8});
  const Tensor w_q = init::inverse_root({8, 8}, random), w_k = init::inverse_root({8, 8}, random);
  const auto dot = [](const Tensor& q, const Tensor& k) { return sum(q * k); };
  std::printf("\n2. Rotary: one query, one key three positions before it, at twenty places\n");
  std::printf("   the score's smallest and largest value:\n");
  print_spread("queries and keys are turned", [&](Index at) {
    return dot(rotary(matmul(x, w_q), pairs, at + 3), rotary(matmul(y, w_k), pairs, at));
  });
  print_spread("embeddings are turned, before W", [&](Index at) {
    return dot(matmul(rotary(x, pairs, at + 3), w_q), matmul(rotary(y, pairs, at), w_k));
  });
  print_spread("sinusoids are added, before W", [&](Index at) {
    return dot(matmul(x + sinusoidal_positions(1, 8, at + 3), w_q),
               matmul(y + sinusoidal_positions(1, 8, at), w_k));
  });
  const Tensor text = random.normal({6, 8});
  const auto scores = [&](const Tensor& q, const Tensor& k, RotaryLayout layout) {
    return matmul(rotary(matmul(text, q), layout), transpose(rotary(matmul(text, k), layout)));
  };
  const Tensor right = scores(w_q, w_k, pairs), wrong = scores(w_q, w_k, halves);
  const Tensor converted =
      scores(convert_rotary(w_q, 1, pairs, halves), convert_rotary(w_k, 1, pairs, halves), halves);
  const auto first = [](const Tensor& s) { return slice(slice(s, 0, 0, 1), 1, 0, 1); };
  std::printf("   weights of the interleaved layout, read as half split: scores are wrong by\n");
  std::printf("   %.3f at position 0, by up to %.3f later; when converted, %s\n",
              largest_difference(first(wrong), first(right)), largest_difference(wrong, right),
              if_small(largest_difference(converted, right)));
}

void biases() {
  std::printf("\n3. A bias by distance\n   distance     ");
  const std::vector<Index> list = {0, 1, 2, 15, 16, 20, 40, 100, 1000};
  for (const Index d : list) std::printf(" %5d", static_cast<int>(d));
  std::printf("\n   T5's bucket  ");
  for (const Index d : list) std::printf(" %5d", int(relative_bucket(-d, true)));
  for (const Index heads : {4, 6}) {
    std::printf("\n   ALiBi's slopes of %d heads:", static_cast<int>(heads));
    for (const double slope : doubles(alibi_slopes(heads))) std::printf(" %.4f", slope);
  }
  std::printf("\n");
}

// ---- beyond the length of training

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
  for (std::int32_t& word : all.words.values)
    word = static_cast<std::int32_t>(random.below(letters));
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
  Transformer model({.vocabulary = letters,
                     .length = lengths.back(),  // what is learned beyond 16 is never trained
                     .d_model = width,
                     .has_feed_forward = false,
                     .positions = positions,
                     .initialiser = init::inverse_root},
                    random);
  Adam adam(model.parameters());
  const auto loss_of_step = [&](Index step) {
    Random data{static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(step)};
    const Texts t = texts(task, 32, trained, data);
    return cross_entropy(model(t.words), t.answers);
  };
  TrainingOptions options{.steps = 300};
  options.rate = [](Index step) {
    return cosine_rate(step, {.highest = 5e-3, .lowest = 2e-4, .warmup = 20, .steps = 300});
  };
  options.what =
      std::string(task_names[task]) + ", " + schemes[static_cast<std::size_t>(positions)];
  train(adam, loss_of_step, options);
  return model;
}

// The share of right answers at the last eight positions of texts that were never seen.
double accuracy(const Transformer& model, Task task, Index length) {
  Random random{1000, static_cast<std::uint64_t>(length)};
  const Texts t = texts(task, 128, length, random);
  const std::vector<double> logits = doubles(model(t.words));
  double right = 0, count = 0;
  for (std::size_t at = 0; at < t.answers.values.size(); ++at) {
    if (static_cast<Index>(at) % length < length - last || t.answers.values[at] < 0) continue;
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(at) * letters;
    right += std::max_element(begin, begin + letters) - begin == t.answers.values[at];
    count += 1;
  }
  return right / count;
}

// Shares of right answers, one for each seed and length: (seeds, lengths).
Tensor measure(Task task, Positions positions) {
  Tensor shares = Tensor::zeros({seeds, static_cast<Index>(lengths.size())});
  for (Index seed = 0; seed < seeds; ++seed) {
    const Transformer model = trained_model(task, positions, seed);
    for (Index i = 0; i < shares.size(1); ++i) {
      shares.set({seed, i}, accuracy(model, task, lengths[static_cast<std::size_t>(i)]));
    }
  }
  return shares;
}

// Trains all, prints a table, and returns the chart.
plot::LineChart compare(Task task, double chance) {
  std::printf("\n%s: share of right answers at the last %d words\n", task_names[task],
              static_cast<int>(last));
  std::printf("%-12s      16     24     32     48     64 words   seeds differ by   0.8 up to\n",
              "");
  plot::LineChart chart;
  chart.title = std::string("Say ") + task_names[task];
  chart.subtitle = "trained on 16 words; mean of three seeds";
  chart.x_axis = {.name = "words", .low = 16, .high = 64};
  chart.y_axis = {.name = "right at the last eight words", .low = 0, .high = 1.02};
  for (std::size_t s = 0; s < schemes.size(); ++s) {
    const Tensor shares = measure(task, static_cast<Positions>(s));
    const std::vector<double> means = doubles(mean(shares, 0));
    std::printf("%-12s", schemes[s].c_str());
    std::size_t holds = 0;  // at how many lengths, from the shortest on
    for (const double share : means) std::printf("  %5.2f", share);
    while (holds < lengths.size() && means[holds] >= 0.8) ++holds;
    std::printf("             %5.2f   %s\n", number(max(max(shares, 0) - min(shares, 0))),
                holds == 0 ? "never" : std::to_string(lengths[holds - 1]).c_str());
    chart.series.push_back({.name = schemes[s],
                            .x = std::vector<double>(lengths.begin(), lengths.end()),
                            .y = means,
                            .markers = true});
  }
  std::printf("%-12s  %5.2f\n", "guessing", chance);
  chart.reference_lines = {{chance, "guessing"}};
  return chart;
}

void draw(const plot::LineChart& first, const plot::LineChart& second) {
  plot::Canvas canvas(1560, 1020);
  const std::vector<plot::Rect> rows = plot::panels(canvas.area().inset(16), 2, 1);
  const std::vector<plot::Rect> top = plot::panels(rows[0], 1, 3);
  plot::LineChart curves, alike;
  curves.title = "Sinusoids: columns of 32";
  curves.x_axis.name = alike.x_axis.name = "position";
  const Tensor p = sinusoidal_positions(65, width);
  const std::vector<double> positions = doubles(Tensor::arange(65));
  for (const Index column : {0, 4, 8, 12}) {
    curves.series.push_back({.name = "sine " + std::to_string(column),
                             .x = positions,
                             .y = doubles(slice(p, 1, column, column + 1))});
  }
  plot::draw(canvas, top[0], curves);
  plot::Heatmap map;
  map.rows = 64;
  map.columns = width;
  map.values = doubles(slice(p, 0, 0, 64));
  map.title = "The same, all columns";
  map.row_axis = "position";
  map.column_axis = "column: sines and cosines by turns";
  map.colours = plot::ColourMap::blue_orange;
  plot::draw(canvas, top[1], map);
  alike.title = "How alike two positions are";
  alike.subtitle = "p(m) · p(n): the same curve, moved to where n = m";
  alike.x_axis.name = "position n";
  for (const Index m : {0, 20, 50}) {
    alike.series.push_back({.name = "m = " + std::to_string(m),
                            .x = positions,
                            .y = doubles(matmul(p, transpose(slice(p, 0, m, m + 1))))});
  }
  plot::draw(canvas, top[2], alike);
  const std::vector<plot::Rect> bottom = plot::panels(rows[1], 1, 2);
  plot::draw(canvas, bottom[0], first);
  plot::draw(canvas, bottom[1], second);
  plot::write_png(canvas, "out/plots/phase6_positions.png");
  std::printf("\nWrote out/plots/phase6_positions.png\n");
}

}  // namespace

int main() try {
  std::printf("Step 61: positions (takes about 15 seconds)\n\n");
  sinusoids();
  printed_code();
  rotations();
  biases();
  std::printf("\n4. Beyond the length of training\n");
  try {
    Random random(1);
    const Transformer short_one({.vocabulary = letters, .length = trained}, random);
    short_one(Indices({17}, std::vector<std::int32_t>(17, 0)));
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
  const plot::LineChart first = compare(three_back, 1.0 / letters), second = compare(latest, 0.25);
  draw(first, second);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
