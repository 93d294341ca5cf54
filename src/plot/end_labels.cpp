#include "plot/end_labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tapestry::plot {
namespace {

constexpr double gap = 10, line_pitch = 15;
const TextStyle style{type::subtitle, theme::ink, false, Align::left, VerticalAlign::middle};

// The colour of a line, darkened until words in it can be read.
Colour readable(Colour colour) {
  double share = 0;
  while (contrast_ratio(mix(colour, theme::ink, share), theme::paper) < 4.5) share += 0.05;
  return mix(colour, theme::ink, share);
}

}  // namespace

double end_label_room(const std::vector<LegendEntry>& names) {
  double width = 0;
  for (const LegendEntry& entry : names) {
    width = std::max(width, measure_text(entry.name, style).width);
  }
  return gap + width;
}

// Less its rank times the pitch, each place is at least the one before: isotonic regression, by
// pooling neighbours that are in the wrong order.
std::vector<double> apart(const std::vector<double>& wanted, double pitch, double low,
                          double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  struct Pool {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    pools.push_back({wanted[order[rank]] - static_cast<double>(rank) * pitch, 1});
    while (pools.size() > 1 && pools.back().mean() < pools[pools.size() - 2].mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  const double last = high - static_cast<double>(wanted.size()) * pitch + pitch;
  std::vector<double> places(wanted.size());
  std::size_t rank = 0;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i, ++rank) {
      places[order[rank]] = std::max(low, std::min(pool.mean(), last)) +  // low, if room is short
                            static_cast<double>(rank) * pitch;
    }
  }
  return places;
}

void draw_end_labels(Canvas& canvas, const Rect& plot, const std::vector<EndLabel>& labels) {
  std::vector<double> wanted;
  for (const EndLabel& label : labels) wanted.push_back(label.end.y);
  const std::vector<double> places = apart(wanted, line_pitch, plot.y, plot.bottom());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto& [text, end, colour] = labels[i];
    const Point at{plot.right() + gap, places[i]};
    if (std::abs(at.y - end.y) > 4 || plot.right() - end.x > 4) {  // where the eye needs help
      canvas.line({end.x + 5, end.y}, {at.x - 2, at.y}, {mix(colour, theme::paper, 0.4), 0.8});
    }
    TextStyle coloured = style;
    coloured.colour = readable(colour);
    canvas.text(at, text, coloured, Role::legend);
  }
}

}  // namespace tapestry::plot
