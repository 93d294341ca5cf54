// Step 17. Does the division by the square root of d_k help learning?
//
// New here: a fair comparison of two ways to learn, with the best learning rate for each, and a
// control that separates two explanations: scores that are not divided, but start as small.
// Writes out/plots/phase1_scale_learning.png; takes about 5 seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "course/lookup_pictures.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/random.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr int items = 16, width = 32, batch = 64, steps = 300;
constexpr std::array rates = {0.03, 0.1, 0.3, 1.0, 3.0};  // of gradient descent
constexpr std::uint64_t seeds = 3;
constexpr std::array sizes = {8, 128, 512};

enum class Way { raw, scaled, raw_small };
constexpr std::array ways = {Way::raw, Way::scaled, Way::raw_small};

const char* name_of(Way way) {
  return way == Way::raw ? "raw" : way == Way::scaled ? "scaled" : "raw, small start";
}

// A lookup: 16 items with random features and random values; a query shows an item's features with
// some noise and wants its value. Only W_Q and W_K learn, so everything depends on the weights.
struct Lookup {
  Tensor features, values;  // (items, width), (items, 8)

  explicit Lookup(Random& random)
      : features(random.normal({items, width})), values(random.normal({items, 8})) {}

  // Of the items' own features, without noise: (items, items).
  Tensor weights(const Tensor& w_q, const Tensor& w_k, double scale) const {
    return softmax(matmul(matmul(features, w_q), transpose(matmul(features, w_k))) * scale);
  }

  Tensor loss(const Tensor& w_q, const Tensor& w_k, double scale, const Indices& wanted,
              const Tensor& noise) const {
    const Tensor q = matmul(embedding(features, wanted) + noise, w_q);  // (batch, d_k)
    const Tensor k = matmul(features, w_k);                             // (items, d_k)
    const Tensor weights = softmax(matmul(q, transpose(k)) * scale);    // (batch, items)
    return mse(matmul(weights, values), embedding(values, wanted));     // (), of (batch, 8) each
  }
};

// Items whose own features, without noise, are looked up as those of another item.
int items_lost(const Tensor& features, const Tensor& w_q, const Tensor& w_k) {
  // (items, items): row i is the query of item i
  const Tensor scores = matmul(matmul(features, w_q), transpose(matmul(features, w_k)));
  int lost = 0;
  for (Index i = 0; i < items; ++i) {
    const double own = scores.at({i, i});
    lost += max(slice(scores, 0, i, i + 1)).item() > own ? 1 : 0;
  }
  return lost;
}

// The baseline, where nothing about the query is learned: the loss of answering with the mean of
// all values, averaged over seeds.
double loss_of_mean() {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    sum += mean(var(Lookup(random).values, 0)).item();
  }
  return sum / seeds;
}

struct Start {
  Tensor w_q, w_k;  // (width, d_k) each
};

// Raw scores with a small start begin with W_Q and W_K divided by the fourth root of d_k, so that
// the first scores are the scaled ones.
Start start(int d_k, Way way, Random& random) {
  const double smaller = way == Way::raw_small ? std::pow(d_k, -0.25) : 1;
  const Tensor w_q = random.normal({width, d_k}, 0, smaller / std::sqrt(width));  // (width, d_k)
  const Tensor w_k = random.normal({width, d_k}, 0, smaller / std::sqrt(width));  // (width, d_k)
  return {w_q, w_k};
}

// Adds the loss at every step of plain gradient descent to `losses`; returns items_lost.
int train(int d_k, Way way, double rate, std::uint64_t seed, std::vector<double>& losses) {
  Random random(seed);
  const Lookup lookup(random);
  const auto [w_q, w_k] = start(d_k, way, random);
  const double scale = way == Way::scaled ? 1 / std::sqrt(d_k) : 1;
  Sgd descent({{"w_q", w_q}, {"w_k", w_k}}, {.learning_rate = rate});
  for (double& sum : losses) {
    Indices wanted({batch}, std::vector<std::int32_t>(batch));  // (batch)
    for (auto& item : wanted.values) item = static_cast<std::int32_t>(random.randint(items));
    const Tensor noise = random.normal({batch, width}, 0, 0.3);  // (batch, width)
    Tape tape({w_q, w_k});
    const Tensor loss = lookup.loss(w_q, w_k, scale, wanted, noise);  // ()
    descent.step(tape.backward(loss));
    sum += loss.item();
  }
  return items_lost(lookup.features, w_q, w_k);
}

struct Course {
  double rate;
  int lost;                    // items, of all seeds
  double last;                 // mean loss of the last ten steps, over seeds
  std::vector<double> losses;  // by step, mean over seeds
};

// Every setting gets the learning rate that suits it best, so that the comparison is fair.
Course best_course(int d_k, Way way, Progress& progress) {
  Course best{0, 0, std::numeric_limits<double>::infinity(), {}};
  for (const double rate : rates) {
    Course course{rate, 0, 0, std::vector<double>(steps)};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      course.lost += train(d_k, way, rate, seed, course.losses);
      progress.step();
    }
    for (double& loss : course.losses) loss /= seeds;
    course.last = std::accumulate(course.losses.end() - 10, course.losses.end(), 0.0) / 10;
    if (course.last < best.last) best = course;
  }
  return best;
}

// By d_k, the curves of all ways.
std::map<int, std::vector<LookupCurve>> train_all() {
  std::printf("1. Learning to look up one of %d items: plain gradient descent, %d steps,\n", items,
              steps);
  std::printf("   the best of %zu rates from 0.03 to 3, mean of %d seeds\n", rates.size(),
              static_cast<int>(seeds));
  std::printf("   answering with the mean of all values: loss %.3f\n", loss_of_mean());
  std::printf("                  d_k  best rate  first loss  last loss  items lost\n");
  Progress progress("training", static_cast<Index>(9 * rates.size() * seeds), "runs");
  std::map<int, std::vector<LookupCurve>> curves;
  for (const Way way : ways) {
    for (const int d_k : sizes) {
      const Course course = best_course(d_k, way, progress);
      std::printf("%-16s %4d %9.2f %11.3f %10.3f %5d of %d\n", name_of(way), d_k, course.rate,
                  course.losses[0], course.last, course.lost, items * static_cast<int>(seeds));
      curves[d_k].push_back({name_of(way), course.losses});
    }
  }
  return curves;
}

// The two ways to start with small scores are the same descent: dividing the product by sqrt(d_k)
// is to start smaller and to divide the learning rate by sqrt(d_k).
void same_descent() {
  std::vector<double> scaled(steps), small(steps);
  (void)train(512, Way::scaled, 1, 1, scaled);
  (void)train(512, Way::raw_small, 1 / std::sqrt(512), 1, small);
  double worst = 0;
  for (int i = 0; i < steps; ++i) {
    worst = std::max(
        worst, std::abs(scaled[static_cast<std::size_t>(i)] - small[static_cast<std::size_t>(i)]));
  }
  std::printf(
      "\n2. d_k = 512, one seed: scaled at rate 1, and raw with the small start at rate\n"
      "   1 / sqrt(512): the losses of all %d steps differ by %s\n",
      steps, worst < 1e-2 ? "less than 0.01" : "MORE THAN 0.01");
}

// Before the first step: does each item find itself, and how sure is it?
void at_the_start() {
  std::printf(
      "\n3. d_k = 512, before training: items that look up another one, and the mean of\n"
      "   their largest weight\n");
  for (const Way way : ways) {
    int lost = 0;
    double largest = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Random random(seed);
      const Lookup lookup(random);
      const auto [w_q, w_k] = start(512, way, random);
      lost += items_lost(lookup.features, w_q, w_k);
      const double scale = way == Way::scaled ? 1 / std::sqrt(512) : 1;
      largest += mean(max(lookup.weights(w_q, w_k, scale), -1)).item() / seeds;
    }
    std::printf("%-16s %3d of %d %8.2f\n", name_of(way), lost, items * static_cast<int>(seeds),
                largest);
  }
}

}  // namespace

int main() try {
  std::printf("Step 17: does scaling help learning? (takes about 5 seconds)\n\n");
  const std::map<int, std::vector<LookupCurve>> curves = train_all();
  same_descent();
  at_the_start();
  plot::write_png(lookup_picture(curves), "out/plots/phase1_scale_learning.png");
  std::printf("\nwrote out/plots/phase1_scale_learning.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
