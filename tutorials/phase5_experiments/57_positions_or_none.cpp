// Step 57. Must a model be told where each word stands?
//
// New here: learned positions, sinusoids, and none at all, in a decoder (causal mask) and in an
// encoder (no mask), on a task that needs order and on one that does not. Without positions an
// encoder cannot know the order. A decoder might find it, for each place sees more than the one
// before (Haviv et al. 2022): how many layers does it take, and where can the place be read off?
// Writes out/plots/phase5_positions.png; takes about 6 seconds.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "tapestry/analysis/patterns.hpp"
#include "tapestry/capture.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "tapestry/progress.hpp"
#include "tapestry/text/batch.hpp"
#include "tapestry/training.hpp"

using namespace tapestry;

namespace {

constexpr Index letters = 12, length = 13;  // <bos> and twelve letters
constexpr std::int32_t bos = letters;
constexpr std::uint64_t seeds = 2;

enum class Task { previous, smallest };  // the letter before; the first in the alphabet of all seen
const char* name_of(Task task) { return task == Task::previous ? "letter before" : "smallest"; }
constexpr std::array all_positions = {Positions::learned, Positions::sinusoidal, Positions::none};
const char* name_of(Positions p) {
  return p == Positions::learned ? "learned" : p == Positions::sinusoidal ? "sinusoidal" : "none";
}

// Random letters behind <bos>, and what each place is to say; -1 where nothing.
Batch draw_batch(Task task, bool causal, Index rows, Random& random) {
  Batch batch{Indices({rows, length}, std::vector<std::int32_t>(rows * length)),
              Indices({rows, length}, std::vector<std::int32_t>(rows * length, -1)),
              {}};
  for (Index row = 0; row < rows; ++row) {
    std::int32_t* x = batch.inputs.values.data() + row * length;
    std::int32_t* y = batch.targets.values.data() + row * length;
    x[0] = bos;
    for (Index i = 1; i < length; ++i) x[i] = static_cast<std::int32_t>(random.randint(letters));
    for (Index i = 1; i < length; ++i) {
      if (task == Task::previous && i > 1) y[i] = x[i - 1];
      if (task == Task::smallest) y[i] = *std::min_element(x + 1, x + (causal ? i + 1 : length));
    }
  }
  return batch;
}

Transformer new_model(bool causal, Positions positions, Index layers, std::uint64_t seed) {
  Random random(seed);
  return Transformer({.vocab_size = letters + 1,
                      .max_length = length,
                      .d_model = 32,
                      .num_heads = 2,
                      .num_layers = layers,
                      .is_causal = causal,
                      .positions = positions,
                      .initializer = init::lecun_normal},
                     random);
}

void learn(const Transformer& model, Task task, std::uint64_t seed) {
  Adam adam(model.parameters());
  constexpr ScheduleOptions rates = {.peak = 4e-3, .floor = 1e-4, .warmup_steps = 20, .steps = 250};
  const auto loss_of_step = [&](Index step) {
    Random data(10 + seed, static_cast<std::uint64_t>(step));
    const Batch batch = draw_batch(task, model.options.is_causal, 24, data);  // (24, length)
    return cross_entropy(model(batch.inputs), batch.targets);                 // logits (24, 13, 13)
  };
  const auto rate = [&](Index step) { return cosine_schedule(step, rates); };
  train(adam, loss_of_step, {.steps = rates.steps, .learning_rate = rate, .what = ""});
}

// Share of new letters said right.
double share_right(const Transformer& model, Task task) {
  Random data(99);
  const Batch test = draw_batch(task, model.options.is_causal, 64, data);  // (64, length)
  const std::vector<real> said = model(test.inputs).values();  // (64, length, letters + 1)
  double right = 0, asked = 0;
  for (std::size_t i = 0; i < test.targets.values.size(); ++i) {
    if (test.targets.values[i] < 0) continue;
    const auto from = said.begin() + static_cast<std::ptrdiff_t>(i * (letters + 1));
    right += std::max_element(from, from + letters + 1) - from == test.targets.values[i] ? 1 : 0;
    asked += 1;
  }
  return right / asked;
}

// The best that can be done for `previous` if one knows which letters a place sees, and which is
// its own, but not their order: say the most frequent of the others.
double best_without_order(bool causal) {
  Random data(98);
  constexpr Index rows = 2000;
  const Batch test = draw_batch(Task::previous, causal, rows, data);  // (rows, length)
  double right = 0;
  for (Index row = 0; row < rows; ++row) {
    const std::int32_t* x = test.inputs.values.data() + row * length;
    for (Index i = 2; i < length; ++i) {
      std::array<int, letters> count{};
      for (Index j = 1; j < (causal ? i : length); ++j) {
        if (j != i) ++count[static_cast<std::size_t>(x[j])];
      }
      right += std::max_element(count.begin(), count.end()) - count.begin() == x[i - 1] ? 1 : 0;
    }
  }
  return right / (rows * (length - 2));
}

// Trained models are kept, for what is asked about them later.
struct Trained {
  std::vector<Transformer> models;  // one for each seed
  double mean = 0, lowest = 1;      // share right
};

Trained train_some(bool causal, Task task, Positions positions, Index layers) {
  Trained result;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    result.models.push_back(new_model(causal, positions, layers, seed));
    learn(result.models.back(), task, seed);
    const double share = share_right(result.models.back(), task);
    result.mean += share / seeds;
    result.lowest = std::min(result.lowest, share);
  }
  return result;
}

// Two letters near the start change places: how much does the output at the last place change?
double change_by_swap(const Transformer& model) {
  Random data(5);
  Indices ids = draw_batch(Task::previous, true, 1, data).inputs;  // (1, length)
  const Tensor before = slice(model(ids), 1, length - 1, length);  // (1, 1, 13)
  std::swap(ids.values[2], ids.values[5]);
  return largest_difference(before, slice(model(ids), 1, length - 1, length));
}

// A linear probe: how many places off, on average, is a linear map that has learned to read the
// place off a layer's output? (Never asked about <bos>, which is known by its word.)
double probe_error(const Transformer& model, Index layer) {
  Random data(7);
  const auto features = [&] {
    const Capture seen;
    model(draw_batch(Task::previous, model.options.is_causal, 64, data).inputs);
    const Tensor& x = seen["blocks." + std::to_string(layer) + ".output"];  // (64, 13, 32)
    return slice(x, 1, 1, length).contiguous();                             // (64, length - 1, 32)
  };
  const Tensor train_x = features(), test_x = features();  // (64, length - 1, 32) each
  Indices place({64, length - 1}, std::vector<std::int32_t>(64 * (length - 1)));
  for (std::size_t i = 0; i < place.values.size(); ++i) place.values[i] = i % (length - 1);
  const Linear probe(train_x.size(-1), length - 1, data, {.initializer = init::normal});
  Adam adam(probe.parameters(), {.learning_rate = 0.03});
  train(adam, [&](Index) { return cross_entropy(probe(train_x), place); },
        {.steps = 150, .what = ""});
  const Tensor places = Tensor::arange(length - 1);                      // (length - 1)
  const Tensor off = sum(softmax(probe(test_x)) * places, -1) - places;  // (64, 12)
  return double{mean(sqrt(off * off)).item()};
}

// The largest of the heads' mean weights on the letter before.
double on_letter_before(const Transformer& model, Index layer) {
  Random data(8);
  const Capture seen;
  model(draw_batch(Task::previous, model.options.is_causal, 64, data).inputs, {},
        {.need_weights = true});
  const Tensor& weights = seen["blocks." + std::to_string(layer) + ".attention.weights"];
  const Mask mask = model.options.is_causal ? Mask::causal() : Mask();
  return double{max(mean(pattern_score(Pattern::previous, weights, mask), 0)).item()};
}

struct Found {
  Trained decoder, encoder;  // two layers, without positions, that learned the letter before
  double by_set_decoder = best_without_order(true), by_set_encoder = best_without_order(false);
};

plot::BarChart compare_positions(Found& found) {
  std::printf("1. Share right, two layers, mean of %d seeds (the lower one)\n",
              static_cast<int>(seeds));
  std::printf("                          learned     sinusoidal      none      without order\n");
  plot::BarChart chart;
  chart.title = "Share right by positions, two layers";
  for (const Positions p : all_positions) chart.series.push_back({name_of(p), {}, {}});
  chart.series.push_back({"best possible without order", {}, plot::theme::frame});
  for (const Task task : {Task::previous, Task::smallest}) {
    for (const bool causal : {true, false}) {
      const std::string coder = causal ? "decoder" : "encoder";
      std::printf("%-8s %-13s", coder.c_str(), name_of(task));
      for (std::size_t p = 0; p < all_positions.size(); ++p) {
        const Trained trained = train_some(causal, task, all_positions[p], 2);
        std::printf("  %.2f (%.2f)", trained.mean, trained.lowest);
        chart.series[p].values.push_back(trained.mean);
        if (task == Task::smallest || all_positions[p] != Positions::none) continue;
        (causal ? found.decoder : found.encoder) = trained;
      }
      const double by_set = causal ? found.by_set_decoder : found.by_set_encoder;
      chart.series.back().values.push_back(task == Task::smallest ? 1 : by_set);
      std::printf("  %9.2f\n", chart.series.back().values.back());
      chart.labels.push_back(coder + ": " + name_of(task));
    }
  }
  chart.y_axis = {.name = "share right", .low = 0, .high = 1.1};
  return chart;
}

plot::BarChart compare_depths(const Found& found) {
  std::printf("\n2. Decoders that were told no positions: the letter before, by layers\n");
  std::printf("layers  share right  output changes when two earlier letters change places\n");
  plot::BarChart chart;
  chart.title = "Decoder without positions";
  chart.subtitle = "the letter before, share right";
  chart.label_axis = "layers";
  chart.series.push_back({"", {}, plot::series_colour(2)});
  chart.reference_lines.push_back({found.by_set_decoder, "best possible without order"});
  for (const Index layers : {1, 2, 3}) {
    const Trained trained =
        layers == 2 ? found.decoder : train_some(true, Task::previous, Positions::none, layers);
    std::printf("%6lld %9.2f (%.2f)  %s\n", static_cast<long long>(layers), trained.mean,
                trained.lowest, change_by_swap(trained.models[0]) < 1e-4 ? "no" : "yes");
    chart.series[0].values.push_back(trained.mean);
    chart.labels.push_back(std::to_string(layers));
  }
  chart.y_axis = {.name = "share right", .low = 0, .high = 1.1};
  return chart;
}

plot::BarChart probe_places(const Found& found) {
  constexpr double middle = (length - 1) / 4.0;  // how far places are from their middle, mean
  std::printf("\n3. Without positions, first seed: places off, of a linear probe (saying the\n");
  std::printf("   middle: %.2f), and most weight of a head on the letter before\n", middle);
  std::printf("                     behind layer 0  layer 1    by layer 0  layer 1\n");
  const struct {
    const char* name;
    Transformer model;
  } all[] = {{"decoder", found.decoder.models[0]},
             {"decoder, untrained", new_model(true, Positions::none, 2, 77)},
             {"encoder", found.encoder.models[0]}};
  plot::BarChart chart;
  chart.title = "Where does it stand?";
  chart.subtitle = "a linear probe reads it off: places off, mean";
  chart.reference_lines.push_back({middle, "always saying the middle"});
  chart.labels = {"behind layer 0", "behind layer 1"};
  for (const auto& [name, model] : all) {
    const std::vector<double> off = {probe_error(model, 0), probe_error(model, 1)};
    std::printf("%-18s %13.2f %10.2f %11.2f %9.2f\n", name, off[0], off[1],
                on_letter_before(model, 0), on_letter_before(model, 1));
    chart.series.push_back({name, off, {}});
  }
  chart.series[0].colour = plot::series_colour(2);
  chart.series[1].colour = plot::series_colour(4);
  chart.series[2].colour = plot::series_colour(3);
  chart.y_axis = {.name = "places off", .low = 0, .high = {}};
  return chart;
}

}  // namespace

int main() try {
  std::printf("Step 57: positions or none (takes about 6 seconds)\n\n");
  Found found;
  plot::Canvas canvas(1240, 860);
  const plot::Rect area = canvas.area().inset(16);
  plot::draw(canvas, {area.x, area.y, area.width, 400}, compare_positions(found));
  const plot::Rect below{area.x, area.y + 424, area.width, area.height - 424};
  const std::vector<plot::Rect> panels = plot::panels(below, 1, 2);
  plot::draw(canvas, panels[0], compare_depths(found));
  plot::draw(canvas, panels[1], probe_places(found));
  plot::write_png(canvas, "out/plots/phase5_positions.png");
  std::printf("\nANSWER without positions, the letter before: decoder %.2f, encoder %.2f;\n",
              found.decoder.mean, found.encoder.mean);
  std::printf("without order one can have %.2f and %.2f\n", found.by_set_decoder,
              found.by_set_encoder);
  std::printf("\nwrote out/plots/phase5_positions.png\n");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
