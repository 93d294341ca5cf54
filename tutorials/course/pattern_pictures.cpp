#include "course/pattern_pictures.hpp"

#include <algorithm>
#include <cmath>

#include "tapestry/format.hpp"
#include "tapestry/pictures.hpp"

namespace tapestry {

std::string patterns_side_by_side(const std::vector<NamedMask>& patterns, Index length) {
  std::string text;
  for (Index first = 0; first < std::ssize(patterns); first += 4) {
    const Index last = std::min(first + 4, std::ssize(patterns)) - 1;
    for (Index p = first; p <= last; ++p) {
      text += formatted(p < last ? "%-26s" : "%s\n", patterns[p].name.c_str());
    }
    for (Index query = 0; query < length; ++query) {
      for (Index p = first; p <= last; ++p) {
        for (Index key = 0; key < length; ++key) {
          text += patterns[p].mask.allows(0, query, key) ? "✓ " : "· ";
        }
        text += p < last ? formatted("%*s", int(26 - 2 * length), "") : "\n";
      }
    }
    text += "\n";
  }
  return text;
}

plot::HeatmapGrid pattern_maps(const std::vector<NamedMask>& patterns, Index length) {
  std::vector<std::string> places;
  for (Index i = 0; i < length; ++i) places.push_back(std::to_string(i));
  plot::HeatmapGrid grid{.columns = 4, .title = "Patterns: white may look, black may not"};
  for (const auto& [name, mask] : patterns) {
    grid.maps.push_back(mask_heatmap(mask, places, places, name));
  }
  return grid;
}

std::string counts_of_patterns(const std::vector<PatternCost>& costs) {
  std::string text = "   to be computed           pairs    blocks\n";
  for (const PatternCost& c : costs) {
    text +=
        formatted("   %-22s %5.1f %%   %5.1f %%\n", c.name.c_str(), 100 * c.pairs, 100 * c.blocks);
  }
  return text;
}

std::string times_of_patterns(const std::vector<PatternCost>& costs) {
  std::string text;
  double by_pairs = 0, by_blocks = 0;  // how far time is from those, added
  for (const PatternCost& c : costs) {
    const double forward = c.forward / costs[0].forward, both = c.both / costs[0].both;
    text += formatted("   %-22s %7.2f (%3.0f %%)  %7.2f (%3.0f %%)\n", c.name.c_str(),
                      1e3 * c.forward, 100 * forward, 1e3 * c.both, 100 * both);
    by_pairs += std::abs(both - c.pairs);
    by_blocks += std::abs(both - c.blocks);
  }
  const double percent = 100 / double(costs.size());
  return text + formatted(
                    "   Share of time, mean distance from that of pairs: %.0f %%, of blocks: "
                    "%.0f %%\n",
                    percent * by_pairs, percent * by_blocks);
}

plot::BarChart shares_of_patterns(const std::vector<PatternCost>& costs) {
  plot::BarChart chart{.title = "Share of full attention, 2048 words"};
  chart.subtitle = "time: forward and backward, fused, one thread of one machine";
  chart.y_axis = {.name = "share", .low = 0};
  chart.series = {{"pairs"}, {"blocks"}, {"time"}};
  for (const PatternCost& c : costs) {
    chart.labels.push_back(c.name);
    chart.series[0].values.push_back(c.pairs);
    chart.series[1].values.push_back(c.blocks);
    chart.series[2].values.push_back(c.both / costs[0].both);
  }
  return chart;
}

}  // namespace tapestry
