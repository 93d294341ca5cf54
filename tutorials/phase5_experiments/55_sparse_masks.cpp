// Step 55. Must every word see every other? Local and strided masks: quality and time.
//
// New here: sparse attention (Child et al. 2019). What a mask hides in one layer may still arrive
// through two: how far is worked out from the masks alone, and then compared with what models
// learn. And time: does fused attention get faster by what a mask hides?
// Writes out/plots/phase5_sparse_masks.png; takes about 9 seconds.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "course/grammar.hpp"
#include "course/timing.hpp"
#include "tapestry/attention.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index length = 32, letters = 8, rows = 8, near = 4, stride = 4, layers = 2;
constexpr Index far = 64;  // window and stride where time is measured
const std::vector<Index> distances = {1, 4, 6, 8, 9, 15, 20};

struct Choice {
  std::string name;
  Mask mask;
};
const std::vector<Choice> choices = {
    {"all before", Mask::causal()},
    {"local", Mask::causal() & Mask::local(near)},
    {"strided", Mask::causal() & Mask::strided(stride)},
    {"local or strided", Mask::causal() & (Mask::local(near) | Mask::strided(stride))}};

// Can the letter `distance` places back arrive at the last place? One layer passes on what its mask
// shows, so two pass on what the product of their masks shows.
bool in_reach(const Mask& mask, Index distance) {
  const Tensor one = mask.tensor({length, length});                     // (length, length)
  return matmul(one, one).at({length - 1, length - 1 - distance}) > 0;  // of (length, length)
}

// Random letters; each place is to say the letter `distance` places before it.
Batch letters_back(Index distance, Index count, Random& random) {
  Batch batch{Indices({count, length}, std::vector<std::int32_t>(count * length)),
              Indices({count, length}, std::vector<std::int32_t>(count * length, -1)),
              {}};
  for (Index at = 0; at < count * length; ++at) {
    const auto i = static_cast<std::size_t>(at);
    batch.inputs.values[i] = static_cast<std::int32_t>(random.randint(letters));
    if (at % length < distance) continue;
    batch.targets.values[i] = batch.inputs.values[i - static_cast<std::size_t>(distance)];
  }
  return batch;
}

using Draw = std::function<Batch(Random&)>;

void learn(const Transformer& model, const Mask& mask, const Draw& draw, Index steps, double rate) {
  Adam adam(model.parameters());
  const ScheduleOptions rates = {
      .peak = rate, .floor = rate / 30, .warmup_steps = 20, .steps = steps};
  const auto loss_of_step = [&](Index step) {
    Random data(2, static_cast<std::uint64_t>(step));
    const Batch batch = draw(data);                                  // (texts, places)
    return cross_entropy(model(batch.inputs, mask), batch.targets);  // (texts, places, words)
  };
  const auto rate_of_step = [&](Index step) { return cosine_schedule(step, rates); };
  train(adam, loss_of_step, {.steps = steps, .learning_rate = rate_of_step, .what = ""});
}

// The share of new letters said right, by a model trained to look so far back.
double share_right(const Mask& mask, Index distance, std::uint64_t seed) {
  Random random(seed), data(99);
  const Transformer model({.vocab_size = letters,
                           .max_length = length,
                           .d_model = 32,
                           .num_heads = 2,
                           .num_layers = layers,
                           .has_feed_forward = false,
                           .initializer = init::lecun_normal},
                          random);
  const auto draw = [&](Random& r) { return letters_back(distance, rows, r); };
  learn(model, mask, draw, 220, 1e-2);
  const Batch test = letters_back(distance, 32, data);               // (32, length)
  const std::vector<real> said = model(test.inputs, mask).values();  // (32, length, letters)
  double right = 0, asked = 0;
  for (std::size_t i = 0; i < test.targets.values.size(); ++i) {
    if (test.targets.values[i] < 0) continue;
    const auto from = said.begin() + static_cast<std::ptrdiff_t>(i * letters);
    right += std::max_element(from, from + letters) - from == test.targets.values[i] ? 1 : 0;
    asked += 1;
  }
  return right / asked;
}

plot::Heatmap reach_map(const std::vector<double>& shares) {
  plot::Heatmap map;
  map.values = shares;
  for (const Choice& choice : choices) map.row_labels.push_back(choice.name);
  for (const Index d : distances) map.column_labels.push_back(std::to_string(d));
  map.rows = static_cast<std::int64_t>(choices.size());
  map.columns = static_cast<std::int64_t>(distances.size());
  map.title = "Share right, two layers";
  map.subtitle = "guessing: 0.12; of two seeds the worse, out of reach the better";
  map.row_axis = "";
  map.column_axis = "how many places back the letter stands";
  map.low = 0;
  map.high = 1;
  map.colour_bar = false;
  return map;
}

plot::Heatmap measure_reach() {
  std::printf("1. Say the letter so many places back: share right; guessing: 1/%lld = %.2f\n",
              static_cast<long long>(letters), 1.0 / letters);
  std::printf("   +: two layers can reach it, the worse of two seeds; else the better\n%-17s", "");
  std::vector<double> shares;
  for (const Index d : distances) std::printf("%6lld", static_cast<long long>(d));
  Progress progress("training", static_cast<Index>(choices.size() * distances.size() * 2), "runs");
  double worst_inside = 1, best_outside = 0;
  for (const auto& [name, mask] : choices) {
    std::printf("\n%-17s", name.c_str());
    for (const Index distance : distances) {
      double worst = 1, best = 0;
      for (const std::uint64_t seed : {1U, 2U}) {
        const double share = share_right(mask, distance, seed);
        worst = std::min(worst, share);
        best = std::max(best, share);
        progress.step();
      }
      const bool reach = in_reach(mask, distance);
      if (reach) worst_inside = std::min(worst_inside, worst);
      if (!reach) best_outside = std::max(best_outside, best);
      shares.push_back(reach ? worst : best);
      std::printf("  %.2f%s", shares.back(), reach ? "+" : " ");
    }
  }
  std::printf("\nANSWER worst share within reach %.2f, best share out of reach %.2f\n",
              worst_inside, best_outside);
  return reach_map(shares);
}

// The loss on new sentences of the grammar, where links are short, for each mask.
void measure_grammar() {
  const Grammar grammar;
  const Vocabulary vocabulary(grammar.words());
  std::printf("\n2. The next word of sentences (knowing the rules: %.2f): loss, and what is seen\n",
              grammar.entropy() / 7);
  const std::vector<Choice> masks = {{"all before", Mask::causal()},
                                     {"local 2", Mask::causal() & Mask::local(2)},
                                     {"local 1", Mask::causal() & Mask::local(1)},
                                     {"strided 2", Mask::causal() & Mask::strided(2)},
                                     {"itself only", Mask::local(0)}};
  for (const auto& [name, mask] : masks) {
    Random random(1), data(99);
    const Transformer model(
        {.vocab_size = vocabulary.size(), .max_length = 7, .d_model = 32, .num_heads = 2}, random);
    learn(model, mask, [&](Random& r) { return grammar.batch(vocabulary, 32, r); }, 200, 1e-2);
    const Batch test = grammar.batch(vocabulary, 500, data);  // (500, 7)
    const Tensor seen = mask.tensor({7, 7});                  // (7, 7)
    std::printf("%-12s %.2f  %2.0f of 28 pairs\n", name.c_str(),
                double{cross_entropy(model(test.inputs, mask), test.targets).item()},
                double{sum(seen).item()});
  }
}

// Places that stride `far` apart are brought together: x (places, d) -> (far, places / far, d).
// Strided attention is then causal attention in each of `far` short sequences.
Tensor brought_together(const Tensor& x) {
  return transpose(reshape(x, {x.size(0) / far, far, x.size(1)}), 0, 1);  // (far, places / far, d)
}
Tensor put_back(const Tensor& x) {
  return reshape(transpose(x, 0, 1), {x.size(0) * x.size(1), x.size(2)});  // (places, d)
}

struct Timed {
  std::string name;
  Mask mask;
  bool together = false;

  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) const {
    if (!together) return fused_attention(q, k, v, mask);  // (places, d)
    return put_back(fused_attention(brought_together(q), brought_together(k), brought_together(v),
                                    Mask::causal()));  // (places, d)
  }
};
const std::vector<Timed> timed = {{"all before", Mask::causal()},
                                  {"local", Mask::causal() & Mask::local(far)},
                                  {"strided", Mask::causal() & Mask::strided(far)},
                                  {"strided, together", Mask::causal() & Mask::strided(far), true}};

void print_seen() {
  constexpr Index places = 2048;
  std::printf("\n3. Of %lld x %lld pairs: seen, and in blocks of 64 x 64 of which a pair is seen\n",
              static_cast<long long>(places), static_cast<long long>(places));
  for (const Timed& t : timed) {
    if (t.together) continue;
    const Tensor seen = t.mask.tensor({places, places});  // (places, places)
    // (places / 64, places / 64)
    const Tensor blocks = max(reshape(seen, {places / 64, 64, places / 64, 64}), {1, 3});
    std::printf("%-18s %5.1f %% %5.1f %%\n", t.name.c_str(), 100 * double{mean(seen).item()},
                100 * double{mean(blocks).item()});
  }
  Random random(4);
  const Tensor x = random.normal({places, 64});  // (places, 64)
  const double difference = largest_difference(timed[2].attend(x, x, x), timed[3].attend(x, x, x));
  std::printf("strided and strided, together: largest difference below 1e-5: %s\n",
              difference < 1e-5 ? "yes" : "no");
}

// Processor time of each mask, forward and backward, on one head of width 64: the best of four
// rounds, in which they take turns.
std::vector<double> milliseconds(Index places) {
  Random random(3);
  const Tensor q = random.normal({places, 64}), k = random.normal({places, 64}),
               v = random.normal({places, 64});  // (places, 64) each
  std::vector<double> best(timed.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < timed.size(); ++i) {
      const auto there_and_back = [&] {
        Tape tape({q, k, v});
        tape.backward(sum(timed[i].attend(q, k, v)));
      };
      best[i] = std::min(best[i], 1e3 * processor_seconds(there_and_back, 1));
    }
  }
  return best;
}

plot::LineChart measure_time() {
  plot::LineChart chart;
  chart.title = "Time, as a share of all before";
  chart.subtitle = "fused attention, forward and backward; on one machine";
  chart.x_axis = {.name = "places", .log = true, .low = 400, .high = 5000};
  chart.y_axis = {.name = "share of the time", .log = true, .low = 0.01, .high = 5};
  std::printf("\n4. Milliseconds, forward and backward (they depend on the machine)\nplaces");
  for (const Timed& t : timed) {
    std::printf("%20s", t.name.c_str());
    chart.series.push_back({t.name, {}, {}});
    chart.series.back().markers = true;
  }
  for (const Index places : {512, 1024, 2048, 4096}) {
    const std::vector<double> times = milliseconds(places);
    std::printf("\n%6lld", static_cast<long long>(places));
    for (std::size_t i = 0; i < times.size(); ++i) {
      std::printf("%20.2f", times[i]);
      chart.series[i].x.push_back(static_cast<double>(places));
      chart.series[i].y.push_back(times[i] / times[0]);
    }
  }
  std::printf("\n\nANSWER at 4096 places, time as a share of that of all before:\n");
  for (const plot::Series& series : chart.series) {
    std::printf("  %-18s %5.2f\n", series.name.c_str(), series.y.back());
  }
  return chart;
}

// The four masks above, what was learned and how long it takes below.
void draw(const plot::Heatmap& reach, const plot::LineChart& time) {
  plot::Canvas canvas(1240, 760);
  const plot::Rect area = canvas.area().inset(16);
  const plot::Rect top{area.x, area.y, area.width, 330};
  const std::vector<plot::Rect> above = plot::panels(top, 1, 4);
  const std::vector<std::string> places(16);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    plot::Heatmap map = mask_heatmap(choices[i].mask, places, places, choices[i].name);
    map.row_labels = map.column_labels = {};  // the numbers of the places
    plot::draw(canvas, above[i], map);
  }
  const plot::Rect bottom{area.x, top.bottom() + 16, area.width, area.bottom() - top.bottom() - 16};
  plot::draw(canvas, {bottom.x, bottom.y, 690, bottom.height}, reach);
  plot::draw(canvas, {bottom.x + 710, bottom.y, bottom.width - 710, bottom.height}, time);
  plot::write_png(canvas, "out/plots/phase5_sparse_masks.png");
}

}  // namespace

int main() try {
  std::printf("Step 55: local and strided masks (takes about 9 seconds)\n\n");
  const plot::Heatmap reach = measure_reach();
  measure_grammar();
  print_seen();
  draw(reach, measure_time());
  std::printf("\nwrote out/plots/phase5_sparse_masks.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
