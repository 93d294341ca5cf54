// Step 56. Scores divided by sqrt(d_k) and not, watched while they learn.
//
// New here: a film. Step 17 measured the start and the end; here every step is seen: where 16
// queries look, the gradient by the weights A, and how much of it softmax passes on to the scores.
// A row is dead when less than one per cent passes. Dead and right is done; dead and wrong is
// stuck. Two more settings: one does not divide and starts with smaller W_Q and W_K, one divides
// and starts with larger ones. By step 17 they are the descents of the first two at other rates.
// Writes out/plots/phase5_scaling.gif and phase5_scaling.png; takes about 15 seconds.
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "course/scaling_pictures.hpp"
#include "tapestry/analysis/patterns.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/plot/gif.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;
using namespace tapestry::scaling;

namespace {

constexpr Index items = 16, width = 32, d_k = 512, batch = 64, steps = 300;
constexpr std::array rates = {0.001, 0.01, 0.1, 1.0, 10.0};
constexpr std::uint64_t seeds = 3, more_seeds = 10;  // more for the rows that are stuck

enum class Kind { raw, scaled, small_start, large_start };
const char* const names[] = {"raw: not divided", "scaled: divided by √d_k",
                             "small: not divided, smaller start", "large: divided, larger start"};

// The task of step 17: find the item that a noisy copy of its features was made from, and say its
// value. Only W_Q and W_K learn.
struct Lookup {
  Tensor features, values, w_q, w_k;  // (items, width), (items, 8), (width, d_k) twice
  double scale;

  Lookup(Kind kind, Random& random)
      : features(random.normal({items, width})),
        values(random.normal({items, 8})),
        w_q(random.normal({width, d_k}, 0, start(kind))),
        w_k(random.normal({width, d_k}, 0, start(kind))),
        scale(kind == Kind::scaled || kind == Kind::large_start ? 1 / std::sqrt(double{d_k}) : 1) {}

  // Of the first W_Q and W_K: on the first scores, small_start acts like the division, and
  // large_start undoes it.
  static double start(Kind kind) {
    const double power = kind == Kind::small_start ? -0.25 : kind == Kind::large_start ? 0.25 : 0;
    return std::pow(d_k, power) / std::sqrt(double{width});
  }

  Tensor scores(const Tensor& x) const {
    return matmul(matmul(x, w_q), transpose(matmul(features, w_k))) * scale;  // (queries, items)
  }

  // What is seen now (Look: course/scaling_pictures.hpp), with the 16 items themselves as queries:
  // query i should look at key i.
  Look look() const {
    const Tensor none = Tensor::zeros({items, items});  // (items, items); d / d none is d / d A
    const Tensor also = none.clone();                   // (items, items), for the scores
    Tape tape({w_q, w_k, none, also});
    const Tensor weights = softmax(scores(features) + also) + none;  // (items, items)
    const Tensor loss = mse(matmul(weights, values), values);        // ()
    const Gradients gradients = tape.backward(loss);
    Look look{weights.detach(), gradients[none], double{loss.item()}};
    look.entropy = double{mean(attention_entropy(look.weights)).item()};
    const auto norms = [](const Tensor& x) { return sqrt(sum(x * x, -1)); };  // (rows) or ()
    const auto norm = [&](const Tensor& x) { return double{norms(reshape(x, {-1})).item()}; };
    look.by_w = norm(concat({gradients[w_q], gradients[w_k]}, 0));
    look.by_a = norm(gradients[none]);
    look.by_scores = norm(gradients[also]);
    const Tensor passed = norms(gradients[also]) / (norms(gradients[none]) + 1e-30);  // (items)
    const Indices largest = argmax(look.weights);                                     // (items)
    for (Index i = 0; i < items; ++i) {
      const bool dead = passed.at({i}) < 0.01, stuck = dead && look.weights.at({i, i}) < 0.5;
      look.dead += dead, look.stuck += stuck;
      look.stuck_at.push_back(stuck ? largest.values[static_cast<std::size_t>(i)] : -1);
    }
    return look;
  }
};

// Looks before each step and after the last, or, unless `whole`, only the first and the last one.
Film train(Kind kind, double rate, std::uint64_t seed, bool whole = true) {
  Random random(seed);
  const Lookup lookup(kind, random);
  Sgd descent({{"w_q", lookup.w_q}, {"w_k", lookup.w_k}}, {.learning_rate = rate});
  Film film = {lookup.look()};
  for (Index step = 1; step <= steps; ++step) {
    Indices wanted({batch}, std::vector<std::int32_t>(batch));  // (batch)
    for (auto& item : wanted.values) item = static_cast<std::int32_t>(random.randint(items));
    const Tensor noise = random.normal({batch, width}, 0, 0.3);  // (batch, width)
    {
      Tape tape({lookup.w_q, lookup.w_k});
      const Tensor x = embedding(lookup.features, wanted) + noise;           // (batch, width)
      const Tensor said = matmul(softmax(lookup.scores(x)), lookup.values);  // (batch, 8)
      descent.step(tape.backward(mse(said, embedding(lookup.values, wanted))));
    }
    if (whole || step == steps) film.push_back(lookup.look());
  }
  return film;
}

// Each setting gets the rate that suits it best.
Setting best_rate(Kind kind, Progress& progress) {
  Setting best;
  for (const double rate : rates) {
    Setting setting{names[static_cast<int>(kind)], rate};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      setting.films.push_back(train(kind, rate, seed));
      progress.step();
    }
    const double loss = setting.mean(steps, &Look::loss);
    std::printf("%-7s %9.3f %10.3f\n", setting.short_name().c_str(), rate, loss);
    if (best.films.empty() || loss < best.mean(steps, &Look::loss)) best = setting;
  }
  return best;
}

// Gradients come in spikes: each row has their mean since the row above, of the last also the
// median.
void print(const Setting& setting) {
  std::printf("%s, rate %.3f\n", setting.name.c_str(), setting.rate);
  std::printf("              gradient of the loss by                          rows\n");
  std::printf("  step   loss       A   scores  W_Q, W_K   median  entropy   dead  stuck\n");
  Index first = 0;
  for (const Index step : {0, 3, 10, 30, 100, 300}) {
    std::printf("%6d %6.3f %7.4f %8.4f %9.4f %8.4f %8.2f %6.1f %6.1f\n", static_cast<int>(step),
                setting.mean(step, &Look::loss), setting.mean(first, step, &Look::by_a),
                setting.mean(first, step, &Look::by_scores), setting.mean(first, step, &Look::by_w),
                setting.median(first, step, &Look::by_w), setting.mean(step, &Look::entropy),
                setting.mean(step, &Look::dead), setting.mean(step, &Look::stuck));
    first = step + 1;
  }
}

// The first gradient, raw against scaled, along the chain rule: by A, the scores, W_Q and W_K.
void print_chain(const Setting& raw, const Setting& scaled) {
  const auto ratio = [&](double Look::* number) {
    return raw.mean(0, number) / scaled.mean(0, number);
  };
  const double a = ratio(&Look::by_a), scores = ratio(&Look::by_scores);
  std::printf(
      "\nThe first gradient, raw / scaled: of A %.2f; of the scores %.2f, so that softmax\n"
      "passes %.2f of the share; of W_Q and W_K %.1f; the factor without the division %.1f\n",
      a, scores, scores / a, ratio(&Look::by_w), std::sqrt(double{d_k}));
}

// Are the rows that are stuck at the end those that were stuck at first? Mean of ten seeds.
void print_stuck(Kind kind, Setting setting, Progress& progress) {
  for (std::uint64_t seed = seeds + 1; seed <= more_seeds; ++seed) {
    setting.films.push_back(train(kind, setting.rate, seed, false));
    progress.step();
  }
  double at_first = 0, of_these = 0, same_key = 0, of_others = 0;
  for (const Film& film : setting.films) {
    for (std::size_t i = 0; i < items; ++i) {
      const Index before = film.front().stuck_at[i], after = film.back().stuck_at[i];
      at_first += before >= 0 ? 1. / more_seeds : 0;
      of_these += before >= 0 && after >= 0 ? 1. / more_seeds : 0;
      same_key += before >= 0 && after == before ? 1. / more_seeds : 0;
      of_others += before < 0 && after >= 0 ? 1. / more_seeds : 0;
    }
  }
  std::printf("%-7s %8.1f %12.1f %14.1f %12.1f of %.1f\n", setting.short_name().c_str(), at_first,
              of_these, same_key, of_others, items - at_first);
}

}  // namespace

int main() try {
  std::printf("Step 56: the scaling experiment as a film (takes about 15 seconds)\n\n");
  std::printf("1. d_k = %lld, %lld steps of gradient descent, mean of %d seeds\n",
              static_cast<long long>(d_k), static_cast<long long>(steps), static_cast<int>(seeds));
  std::printf("             rate  last loss\n");
  const auto runs = 4 * rates.size() * seeds + 2 * (more_seeds - seeds);
  Progress progress("training", static_cast<Index>(runs), "runs");
  const Settings settings = {best_rate(Kind::raw, progress), best_rate(Kind::scaled, progress),
                             best_rate(Kind::small_start, progress),
                             best_rate(Kind::large_start, progress)};
  std::printf("\n2. Each with its best rate; of 16 rows, mean of the seeds\n");
  for (const Setting& setting : settings) print(setting);
  print_chain(settings[0], settings[1]);
  std::printf(
      "\n3. Rows stuck before the first step, and those of them that are stuck after the\n");
  std::printf("last, at any key and at the same; and other rows, mean of %d seeds\n",
              static_cast<int>(more_seeds));
  std::printf("        at first   at the end   at the same key   other rows\n");
  print_stuck(Kind::raw, settings[0], progress);
  print_stuck(Kind::large_start, settings[3], progress);
  std::printf("\nANSWER rows stuck before the first step and after the last\n");
  for (const Setting& setting : settings) {
    std::printf("%-7s %4.1f %4.1f\n", setting.short_name().c_str(), setting.mean(0, &Look::stuck),
                setting.mean(steps, &Look::stuck));
  }
  plot::write_png(frame(settings, d_k, steps, 2), "out/plots/phase5_scaling.png");
  plot::write_gif(frames(settings, d_k), "out/plots/phase5_scaling.gif", 0.2);
  std::printf("wrote out/plots/phase5_scaling.gif and out/plots/phase5_scaling.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
