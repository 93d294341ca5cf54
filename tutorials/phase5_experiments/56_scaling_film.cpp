// Step 56. Scores divided by sqrt(d_k) and not, watched while they learn.
//
// New here: a film. Step 17 measured the start and the end; here every step is seen: where 16
// queries look, the gradient by the weights A, and how much of it softmax passes on to the scores.
// A row is dead when less than one per cent passes. Dead and right is done; dead and wrong is
// stuck. Two more settings: one does not divide and starts with smaller W_Q and W_K, one divides
// and starts with larger ones. By step 17 they are the descents of the first two at other rates.
// Writes out/plots/phase5_scaling.gif and phase5_scaling.png; takes about 15 seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/analysis/patterns.hpp"
#include "tapestry/error.hpp"
#include "tapestry/format.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/optim.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/gif.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/tape.hpp"

using namespace tapestry;

namespace {

constexpr Index items = 16, width = 32, d_k = 512, batch = 64, steps = 300;
constexpr std::array rates = {0.001, 0.01, 0.1, 1.0, 10.0};
constexpr std::uint64_t seeds = 3, more_seeds = 10;  // more for the rows that are stuck

// What is seen of one step, with the 16 items themselves as queries: query i should look at key i.
struct Look {
  Tensor weights, gradient;  // (items, items): A and d loss / d A
  double loss = 0, entropy = 0;
  double by_a = 0, by_scores = 0, by_w = 0;  // norms of d loss / d A, scores, W_Q and W_K
  double dead = 0, stuck = 0;                // rows dead; those of them that are wrong
  std::vector<Index> stuck_at = std::vector<Index>(items, -1);  // the key of the largest weight
};

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

  Look look() const {
    const Tensor none = Tensor::zeros({items, items});  // (items, items); d / d none is d / d A
    const Tensor also = none.clone();                   // (items, items), for the scores
    Tape tape({w_q, w_k, none, also});
    const Tensor weights = softmax(scores(features) + also) + none;  // (items, items)
    const Tensor loss = mse(matmul(weights, values), values);        // ()
    const Gradients gradients = tape.backward(loss);
    Look look{weights.detached(), gradients[none], double{loss.item()}};
    look.entropy = double{mean(attention_entropy(look.weights)).item()};
    const auto norms = [](const Tensor& x) { return sqrt(sum(x * x, -1)); };  // (rows) or ()
    // (2 * width * d_k)
    const Tensor to_w = concat({reshape(gradients[w_q], {-1}), reshape(gradients[w_k], {-1})}, 0);
    look.by_w = double{norms(to_w).item()};
    look.by_a = double{norms(reshape(gradients[none], {-1})).item()};
    look.by_scores = double{norms(reshape(gradients[also], {-1})).item()};
    const Tensor passed = norms(gradients[also]) / (norms(gradients[none]) + 1e-30);  // (items)
    const Indices largest = argmax(look.weights);                                     // (items)
    for (Index i = 0; i < items; ++i) {
      if (passed.at({i}) >= 0.01) continue;
      look.dead += 1;
      if (look.weights.at({i, i}) >= 0.5) continue;
      look.stuck += 1;
      look.stuck_at[static_cast<std::size_t>(i)] = largest.values[static_cast<std::size_t>(i)];
    }
    return look;
  }
};

using Film = std::vector<Look>;  // before each step, and after the last; or first and last

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

struct Setting {
  std::string name;
  double rate = 0;
  std::vector<Film> films = {};  // one for each seed

  std::string short_name() const { return name.substr(0, name.find(':')); }

  // Over the seeds, and over the steps from `first` to `last`.
  double mean(Index first, Index last, double Look::* number) const {
    double sum = 0;
    for (const Film& film : films) {
      for (Index i = first; i <= last; ++i) sum += film[static_cast<std::size_t>(i)].*number;
    }
    return sum / static_cast<double>((last - first + 1) * std::ssize(films));
  }
  double mean(Index step, double Look::* number) const { return mean(step, step, number); }

  // Over the steps around `step` that lie close to it on a log axis, none after `last`.
  double running_median(Index step, Index last, double Look::* number) const {
    constexpr double reach = 1.3;
    std::vector<double> near;
    for (Index i = 0; i <= last; ++i) {
      const double ratio = static_cast<double>(i + 1) / static_cast<double>(step + 1);
      if (ratio < reach && ratio > 1 / reach) near.push_back(mean(i, number));
    }
    const auto middle = near.begin() + std::ssize(near) / 2;
    std::nth_element(near.begin(), middle, near.end());
    return *middle;
  }
};

using Settings = std::array<Setting, 4>;  // in the order of Kind

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

// Gradients come in spikes: each row has their mean since the row above.
void print(const Setting& setting) {
  std::printf("%s, rate %.3f\n", setting.name.c_str(), setting.rate);
  std::printf("              gradient of the loss by                 rows\n");
  std::printf("  step   loss       A   scores  W_Q, W_K  entropy   dead  stuck\n");
  Index first = 0;
  for (const Index step : {0, 3, 10, 30, 100, 300}) {
    std::printf("%6d %6.3f %7.4f %8.4f %9.4f %8.2f %6.1f %6.1f\n", static_cast<int>(step),
                setting.mean(step, &Look::loss), setting.mean(first, step, &Look::by_a),
                setting.mean(first, step, &Look::by_scores), setting.mean(first, step, &Look::by_w),
                setting.mean(step, &Look::entropy), setting.mean(step, &Look::dead),
                setting.mean(step, &Look::stuck));
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
      "\nThe first gradient, raw / scaled: of A %.2f; of the scores %.2f, so that softmax\n", a,
      scores);
  std::printf(
      "passes %.2f of the share; of W_Q and W_K %.1f; the factor without the division %.1f\n",
      scores / a, ratio(&Look::by_w), std::sqrt(double{d_k}));
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

plot::Heatmap square(const Tensor& values, const std::string& title) {
  plot::Heatmap map;
  map.rows = map.columns = items;
  map.values = doubles(values);
  map.title = title;
  map.row_axis = "query";
  map.column_axis = "key";
  map.row_labels = map.column_labels = std::vector<std::string>(items, "");
  map.print = plot::PrintValues::never;
  map.low = 0;
  map.high = 1;
  return map;
}

void draw_maps(plot::Canvas& canvas, plot::Rect area, const Setting& setting, Index step) {
  const Look& look = setting.films[0][static_cast<std::size_t>(step)];
  const std::vector<plot::Rect> sides = plot::panels(area, 1, 2, 16);
  plot::Heatmap weights = square(look.weights, setting.name);
  weights.subtitle = formatted("weights A: %.0f rows dead, %.0f stuck", look.dead, look.stuck);
  plot::draw(canvas, sides[0], weights);
  plot::Heatmap gradient = square(look.gradient, "d loss / d A");
  gradient.subtitle = "blue: more wanted; clipped at ±0.08";
  gradient.colours = plot::ColourMap::blue_orange;
  gradient.high = 0.08;
  gradient.low = -0.08;
  plot::draw(canvas, sides[1], gradient);
}

// What a panel of curves shows of all settings.
struct Panel {
  double Look::* number;
  const char *title, *subtitle;
  double low, high;
  bool log, median;
};

// Up to step `last`; x is step + 1, for a log axis.
plot::LineChart curves(const Settings& settings, const Panel& panel, Index last) {
  plot::LineChart chart;
  chart.title = panel.title;
  chart.subtitle = panel.subtitle;
  chart.x_axis = {.name = "step + 1", .log = true, .low = 1, .high = steps + 1};
  chart.y_axis = {.name = "", .log = panel.log, .low = panel.low, .high = panel.high};
  for (const Setting& setting : settings) {
    plot::Series series{setting.short_name(), {}, {}};
    constexpr std::array colours = {2, 3, 5, 6};  // blue and orange are the maps'
    series.colour = plot::series_colour(colours[chart.series.size()]);
    for (Index step = 0; step <= last; ++step) {
      series.x.push_back(static_cast<double>(step + 1));
      const double y = panel.median ? setting.running_median(step, last, panel.number)
                                    : setting.mean(step, panel.number);
      series.y.push_back(std::max(panel.low, y));
    }
    series.markers = last == 0;
    chart.series.push_back(series);
  }
  return chart;
}

void draw_curves(plot::Canvas& canvas, plot::Rect area, const Settings& settings, Index last) {
  const Panel list[] = {
      {&Look::loss, "Loss", "mean squared error", 0.001, 3, true, false},
      {&Look::entropy, "Entropy", "of the weights, nats", 0, 3, false, false},
      {&Look::by_w, "Gradient of W_Q, W_K", "running median", 1e-4, 20, true, true},
      {&Look::stuck, "Rows stuck", "of 16", 0, 16, false, false}};
  const std::vector<plot::Rect> panels = plot::panels(area, 1, 4, 16);
  for (std::size_t i = 0; i < 4; ++i) {
    plot::draw(canvas, panels[i], curves(settings, list[i], last));
  }
}

plot::Canvas frame(const Settings& settings, Index step, double scale) {
  plot::Canvas canvas(1240, 620, scale);
  const plot::Rect area = canvas.area().inset(12);
  const std::string what = ". 16 queries, each should look at its own key; d_k = 512";
  canvas.text({area.x, area.y + 16}, "Step " + std::to_string(step) + what + " (curves: 3 seeds)",
              {.size = 16, .bold = true});
  const std::vector<plot::Rect> top =
      plot::panels({area.x, area.y + 30, area.width, 276}, 1, 2, 24);
  for (std::size_t i = 0; i < 2; ++i) draw_maps(canvas, top[i], settings[i], step);
  draw_curves(canvas, {area.x, area.y + 316, area.width, area.height - 316}, settings, step);
  return canvas;
}

// Every step while much happens, fewer later.
void write_film(const Settings& settings) {
  std::vector<plot::Canvas> frames;
  for (Index step = 0; step <= steps; step += step < 16    ? 1
                                              : step < 40  ? 4
                                              : step < 100 ? 10
                                                           : 25) {
    frames.push_back(frame(settings, step, 1));
  }
  frames.insert(frames.begin(), 5, frames.front());
  for (int i = 0; i < 12; ++i) frames.push_back(frame(settings, steps, 1));
  plot::write_gif(frames, "out/plots/phase5_scaling.gif", 0.2);
}

}  // namespace

int main() try {
  std::printf("Step 56: the scaling experiment as a film (takes about 15 seconds)\n\n");
  std::printf("1. d_k = %lld, %lld steps of gradient descent, mean of %d seeds\n",
              static_cast<long long>(d_k), static_cast<long long>(steps), static_cast<int>(seeds));
  std::printf("             rate  last loss\n");
  Progress progress(
      "training",
      4 * static_cast<Index>(rates.size() * seeds) + 2 * static_cast<Index>(more_seeds - seeds),
      "runs");
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
  plot::write_png(frame(settings, steps, 2), "out/plots/phase5_scaling.png");
  write_film(settings);
  std::printf("wrote out/plots/phase5_scaling.gif and out/plots/phase5_scaling.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
