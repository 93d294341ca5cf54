// Step 57. Must a model be told where each word stands?
//
// New here: learned positions, sinusoids, and none at all, in a decoder (causal mask) and in an
// encoder (no mask), on a task that needs order and on one that does not. Without positions an
// encoder cannot know the order. A decoder might find it, for each place sees more than the one
// before (Haviv et al. 2022): how many layers does it take, and where can the place be read off?
// Ten seeds are in experiments/57_seeds.cpp.
// Writes out/plots/phase5_positions.png; takes about 6 seconds.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "course/order_runs.hpp"
#include "tapestry/error.hpp"
#include "tapestry/nn/transformer.hpp"
#include "tapestry/plot/dot_plot.hpp"
#include "tapestry/plot/png.hpp"

using namespace tapestry;

namespace {

constexpr std::uint64_t seeds = 2;
constexpr Index before = 1;    // say the letter so many places before,
constexpr Index smallest = 0;  // or the first in the alphabet of all seen

const char* name_of(Index back) { return back == smallest ? "smallest" : "letter before"; }
constexpr std::array all_positions = {Positions::learned, Positions::sinusoidal, Positions::none};
const char* name_of(Positions p) {
  return p == Positions::learned ? "learned" : p == Positions::sinusoidal ? "sinusoidal" : "none";
}

// Trained models are kept, for what is asked about them later.
struct Trained {
  std::vector<Transformer> models;  // one for each seed
  std::vector<double> shares;       // right, one for each seed
  double mean = 0, lowest = 1;      // of them
};

Trained train_some(const OrderTask& task, Positions positions, Index layers) {
  Trained result;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    result.models.push_back(order_model(task.causal, positions, layers, seed));
    learn(result.models.back(), task, seed);
    const double share = share_right(result.models.back(), task);
    result.shares.push_back(share);
    result.mean += share / seeds;
    result.lowest = std::min(result.lowest, share);
  }
  return result;
}

struct Found {
  Trained decoder, encoder;  // two layers, without positions, that learned the letter before
  double by_set_decoder = OrderTask{before, true}.best_without_order();
  double by_set_encoder = OrderTask{before, false}.best_without_order();
};

plot::DotPlot compare_positions(Found& found) {
  std::printf("1. Share right, two layers, mean of %d seeds (the lower one)\n",
              static_cast<int>(seeds));
  std::printf("                          learned     sinusoidal      none      without order\n");
  plot::DotPlot chart;
  chart.title = "Share right by positions, two layers";
  chart.subtitle = "a dot is one of two seeds; grey: computed, not trained";
  for (const Positions p : all_positions) chart.series.push_back({name_of(p), {}, {}});
  chart.series.push_back({"best possible without order", {}, plot::theme::frame});
  for (const Index back : {before, smallest}) {
    for (const bool causal : {true, false}) {
      const std::string coder = causal ? "decoder" : "encoder";
      std::printf("%-8s %-13s", coder.c_str(), name_of(back));
      for (std::size_t p = 0; p < all_positions.size(); ++p) {
        const Trained trained = train_some({back, causal}, all_positions[p], 2);
        std::printf("  %.2f (%.2f)", trained.mean, trained.lowest);
        chart.series[p].groups.push_back({trained.shares, {}});
        if (back == smallest || all_positions[p] != Positions::none) continue;
        (causal ? found.decoder : found.encoder) = trained;
      }
      const double by_set = causal ? found.by_set_decoder : found.by_set_encoder;
      const double best = back == smallest ? 1 : by_set;
      chart.series.back().groups.push_back({{best}, {}});
      std::printf("  %9.2f\n", best);
      chart.labels.push_back(coder + ": " + name_of(back));
    }
  }
  chart.value_axis = {.name = "share right", .low = 0, .high = 1.1};
  return chart;
}

plot::DotPlot compare_depths(const Found& found) {
  std::printf("\n2. Decoders that were told no positions: the letter before, by layers\n");
  std::printf("layers  share right  output changes when two earlier letters change places\n");
  plot::DotPlot chart;
  chart.title = "Decoder without positions";
  chart.subtitle = "the letter before, share right; a dot is one of two seeds";
  chart.label_axis = "layers";
  chart.series.push_back({"", {}, plot::series_colour(2)});
  chart.reference_lines.push_back({found.by_set_decoder, "best possible without order"});
  for (const Index layers : {1, 2, 3}) {
    const Trained trained =
        layers == 2 ? found.decoder : train_some({before, true}, Positions::none, layers);
    std::printf("%6lld %9.2f (%.2f)  %s\n", static_cast<long long>(layers), trained.mean,
                trained.lowest, change_by_swap(trained.models[0]) < 1e-4 ? "no" : "yes");
    chart.series[0].groups.push_back({trained.shares, {}});
    chart.labels.push_back(std::to_string(layers));
  }
  chart.value_axis = {.name = "share right", .low = 0, .high = 1.1};
  return chart;
}

plot::BarChart probe_places(const Found& found) {
  constexpr double middle =
      (OrderTask::length - 1) / 4.0;  // how far places are from their middle, mean
  std::printf("\n3. Without positions, first seed: places off, of a linear probe (saying the\n");
  std::printf("   middle: %.2f), and most weight of a head on the letter before\n", middle);
  std::printf("                     behind layer 0  layer 1    by layer 0  layer 1\n");
  const struct {
    const char* name;
    Transformer model;
  } all[] = {{"decoder", found.decoder.models[0]},
             {"decoder, untrained", order_model(true, Positions::none, 2, 77)},
             {"encoder", found.encoder.models[0]}};
  plot::BarChart chart;
  chart.title = "Where does it stand?";
  chart.subtitle = "a linear probe reads it off, first seed: places off, mean";
  chart.reference_lines.push_back({middle, "always saying the middle"});
  chart.labels = {"behind layer 0", "behind layer 1"};
  for (const auto& [name, model] : all) {
    const OrderTask task{before, model.options.is_causal};
    const std::vector<double> off = {places_off(model, task, 0), places_off(model, task, 1)};
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
