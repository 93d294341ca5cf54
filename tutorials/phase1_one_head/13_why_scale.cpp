// Step 13. Why divide by the square root of d_k?
//
// New here: the spread of a dot product grows like sqrt(d_k). Measured, not argued: what that does
// to the weights, to the gradient that passes through softmax, and to learning.
// Writes out/plots/phase1_scaling.png; takes about 3 seconds.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index items = 16, queries = 512, width = 32, steps = 300;
constexpr std::array rates = {0.01, 0.1, 1.0};  // of gradient descent
constexpr std::uint64_t seeds = 3;
const std::vector<Index> sizes = {8, 32, 128, 512};

struct Spread {
  double deviation;  // of the scores
  double largest;    // mean of each row's largest weight
  double slope;      // mean |gradient| that reaches a score: what is left for learning
};

Spread measure(Index d_k, bool scaled) {
  Random random(42);
  const Tensor q = random.normal({queries, d_k}), k = random.normal({items, d_k});
  const Tensor raw = matmul(q, transpose(k));  // (queries, items), as are those below
  const Tensor scores = (scaled ? raw / std::sqrt(static_cast<double>(d_k)) : raw).clone();
  const Tensor direction = random.normal(scores.shape());  // the gradient that reaches the weights
  Tape tape({scores});
  const Tensor weights = softmax(scores);                          // (queries, items)
  const Tensor slope = tape.backward(weights, direction)[scores];  // (queries, items)
  return {std::sqrt(double{var(scores).item()}), double{mean(max(weights, -1)).item()},
          double{mean(sqrt(slope * slope)).item()}};
}

// A lookup: 16 items with random features and random values; a query shows an item's features with
// some noise and wants its value. Only W_Q and W_K learn, so everything depends on the weights.
struct Lookup {
  Tensor features, values;  // (items, width), (items, 8)

  explicit Lookup(Random& random)
      : features(random.normal({items, width})), values(random.normal({items, 8})) {}

  Tensor loss(const Tensor& w_q, const Tensor& w_k, double scale, const Indices& wanted,
              const Tensor& noise) const {
    const Tensor q = matmul(embedding(features, wanted) + noise, w_q);  // (batch, d_k)
    const Tensor k = matmul(features, w_k);                             // (items, d_k)
    const Tensor weights = softmax(matmul(q, transpose(k)) * scale);    // (batch, items)
    return mse(matmul(weights, values), embedding(values, wanted));     // (), of (batch, 8) each
  }
};

// The baseline, where nothing about the query is learned: the loss of answering with the mean of
// all values, averaged over seeds.
double loss_of_mean() {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    sum += double{mean(var(Lookup(random).values, 0)).item()};
  }
  return sum / seeds;
}

// Adds the loss at every step of plain gradient descent to `losses`.
void train(Index d_k, bool scaled, double rate, std::uint64_t seed, std::vector<double>& losses) {
  constexpr Index batch = 64;
  Random random(seed);
  const Lookup lookup(random);
  const double deviation = 1 / std::sqrt(static_cast<double>(width));
  const Tensor w_q = random.normal({width, d_k}, 0, deviation);  // (width, d_k)
  const Tensor w_k = random.normal({width, d_k}, 0, deviation);  // (width, d_k)
  const double scale = scaled ? 1 / std::sqrt(static_cast<double>(d_k)) : 1;
  Sgd descent({{"w_q", w_q}, {"w_k", w_k}}, {.learning_rate = rate});
  for (double& sum : losses) {
    Indices wanted({batch}, std::vector<std::int32_t>(batch));  // (batch)
    for (auto& item : wanted.values) item = static_cast<std::int32_t>(random.randint(items));
    const Tensor noise = random.normal({batch, width}, 0, 0.3);  // (batch, width)
    Tape tape({w_q, w_k});
    const Tensor loss = lookup.loss(w_q, w_k, scale, wanted, noise);  // ()
    descent.step(tape.backward(loss));
    sum += double{loss.item()};
  }
}

struct Course {
  double rate;
  double last;                 // mean loss of the last ten steps, over seeds
  std::vector<double> losses;  // by step, mean over seeds
};

// Every setting gets the learning rate that suits it best, so that the comparison is fair.
Course best_course(Index d_k, bool scaled, Progress& progress) {
  Course best{0, std::numeric_limits<double>::infinity(), {}};
  for (const double rate : rates) {
    Course course{rate, 0, std::vector<double>(steps)};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      train(d_k, scaled, rate, seed, course.losses);
      progress.step();
    }
    for (double& loss : course.losses) loss /= seeds;
    course.last = std::accumulate(course.losses.end() - 10, course.losses.end(), 0.0) / 10;
    if (course.last < best.last) best = course;
  }
  return best;
}

plot::LineChart against_size(const std::string& title, const std::string& y_name, bool log_y) {
  plot::LineChart chart;
  chart.title = title;
  chart.x_axis = {.name = "d_k", .log = true, .low = {}, .high = {}};
  chart.y_axis = {.name = y_name, .log = log_y, .low = {}, .high = {}};
  return chart;
}

void measure_all(plot::LineChart& saturation, plot::LineChart& slopes) {
  std::printf("1. Random queries and keys, each element N(0, 1), %lld keys\n",
              static_cast<long long>(items));
  std::printf("             spread of    largest   gradient\n");
  std::printf("        d_k  scores       weight    through softmax\n");
  for (const bool scaled : {false, true}) {
    plot::Series largest{scaled ? "scaled: divided by √d_k" : "raw: not divided", {}, {}};
    largest.markers = true;
    largest.dashed = !scaled;  // in all three pictures
    largest.colour = plot::theme::ink;
    plot::Series slope = largest;
    for (const Index d_k : sizes) {
      const Spread spread = measure(d_k, scaled);
      std::printf("%-7s %4lld %8.2f %11.3f %12.5f\n", scaled ? "scaled" : "raw",
                  static_cast<long long>(d_k), spread.deviation, spread.largest, spread.slope);
      largest.x.push_back(static_cast<double>(d_k));
      largest.y.push_back(spread.largest);
      slope.x.push_back(static_cast<double>(d_k));
      slope.y.push_back(spread.slope);
    }
    saturation.series.push_back(largest);
    slopes.series.push_back(slope);
  }
}

void train_all(plot::LineChart& learning) {
  std::printf(
      "\n2. Learning to look up one of %lld items: plain gradient descent, %lld steps,\n"
      "   the best of %zu rates, mean of %d seeds\n",
      static_cast<long long>(items), static_cast<long long>(steps), rates.size(),
      static_cast<int>(seeds));
  std::printf("   answering with the mean of all values: loss %.3f\n", loss_of_mean());
  std::printf("        d_k  best rate  first loss  last loss\n");
  Progress progress("training", 2 * static_cast<Index>(sizes.size() * rates.size() * seeds),
                    "runs");
  for (const bool scaled : {false, true}) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Course course = best_course(sizes[i], scaled, progress);
      std::printf("%-7s %4lld %9.2f %11.3f %10.3f\n", scaled ? "scaled" : "raw",
                  static_cast<long long>(sizes[i]), course.rate, course.losses[0], course.last);
      plot::Series curve{
          (scaled ? "scaled " : "raw ") + std::to_string(sizes[i]), {}, course.losses};
      for (std::size_t step = 0; step < curve.y.size(); ++step) {
        curve.x.push_back(static_cast<double>(step));
      }
      curve.dashed = !scaled;
      curve.colour = plot::series_colour(i);
      learning.series.push_back(curve);
    }
  }
}

}  // namespace

int main() try {
  std::printf("Step 13: why scale (takes about 3 seconds)\n\n");
  plot::LineChart saturation = against_size("Mean of the largest weight", "weight", false);
  plot::LineChart slopes = against_size("Gradient that passes softmax", "mean |gradient|", true);
  saturation.y_axis.low = 0;
  saturation.y_axis.high = 1;
  measure_all(saturation, slopes);

  plot::LineChart learning;
  learning.title = "Learning to look up, by d_k";
  learning.x_axis.name = "step";
  learning.y_axis = {.name = "mean squared error", .log = true, .low = {}, .high = {}};
  train_all(learning);

  plot::Canvas canvas(1500, 460);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 3);
  plot::draw(canvas, panels[0], saturation);
  plot::draw(canvas, panels[1], slopes);
  plot::draw(canvas, panels[2], learning);
  plot::write_png(canvas, "out/plots/phase1_scaling.png");
  std::printf("\nwrote out/plots/phase1_scaling.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
