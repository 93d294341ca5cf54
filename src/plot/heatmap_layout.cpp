#include "plot/heatmap_layout.hpp"

#include <algorithm>
#include <cmath>

#include "plot/frame.hpp"
#include "plot/utf8.hpp"
#include "tapestry/error.hpp"
#include "tapestry/plot/numbers.hpp"

namespace tapestry::plot {
namespace {

constexpr double longest_label = 150;  // logical units

// The given labels, or the index of the first row (column) of every block.
std::vector<std::string> labels_of(const std::vector<std::string>& given, std::int64_t count,
                                   std::int64_t block) {
  std::vector<std::string> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    labels.push_back(given.empty() ? std::to_string(i * block)
                                   : fit_text(visible(given[i]), longest_label, label_style()));
  }
  return labels;
}

// Means of the values that are not masked; a block without any is masked.
void average_blocks(const Heatmap& map, PooledHeatmap& small) {
  small.values.assign(static_cast<std::size_t>(small.rows * small.columns), 0.0);
  std::vector<double> count(small.values.size(), 0.0);
  for (std::int64_t i = 0; i < map.rows; ++i) {
    for (std::int64_t j = 0; j < map.columns; ++j) {
      const auto from = static_cast<std::size_t>(i * map.columns + j);
      const auto to =
          static_cast<std::size_t>(i / small.row_block * small.columns + j / small.column_block);
      if (!map.masked.empty() && map.masked[from]) continue;
      small.values[to] += map.values[from];
      ++count[to];
    }
  }
  small.masked.assign(map.masked.empty() ? 0 : count.size(), false);
  for (std::size_t k = 0; k < count.size(); ++k) {
    if (count[k] == 0) small.masked[k] = true;
    if (count[k] > 0) small.values[k] /= count[k];
  }
}

std::vector<std::string> every(const std::vector<std::string>& labels, std::int64_t block) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < labels.size(); i += static_cast<std::size_t>(block)) {
    kept.push_back(labels[i]);
  }
  return kept;
}

double bar_room(const Heatmap& map, const ColourRange& range) {
  const std::vector<double> ticks = linear_ticks(range.low, range.high, 5);
  const bool has_nan = std::any_of(map.values.begin(), map.values.end(),
                                   [](double value) { return std::isnan(value); });
  double texts = widest(tick_texts(ticks), {type::tick});
  if (has_nan) texts = std::max(texts, measure_text("NaN", {type::tick}).width);
  if (!map.masked.empty()) texts = std::max(texts, measure_text("masked", {type::tick}).width);
  return bar_gap + bar_width + 7 + texts + (map.colour_bar_name.empty() ? 0 : 22);
}

// Whether horizontal column labels would touch each other, or reach beyond the room at the sides.
bool are_crowded(const HeatmapLayout& layout, double cell_width, bool colour_bar) {
  constexpr double gap = 6;
  std::vector<double> half;
  for (const std::string& label : layout.column_labels) {
    half.push_back(measure_text(label, label_style()).width / 2);
  }
  for (std::size_t j = 1; j < half.size(); ++j) {
    if (half[j - 1] + half[j] + gap > cell_width) return true;
  }
  const double right = colour_bar ? bar_gap - gap : layout.right;  // a key may stand below the bar
  return half.front() > cell_width / 2 + layout.left || half.back() > cell_width / 2 + right;
}

// The room below the cells that column labels take.
double column_label_room(const HeatmapLayout& layout) {
  constexpr double level = 24;
  if (!layout.turned) return level;
  return std::max(level, widest(layout.column_labels, label_style()) + 9);
}

double comfortable_cell(std::int64_t n) {
  if (n <= 8) return 62;
  if (n <= 16) return 46;
  if (n <= 24) return 36;
  if (n <= 40) return 26;
  return std::max(1.0, 880.0 / static_cast<double>(n));
}

}  // namespace

// Every 1st, 2nd, 5th, 10th ... label, so that neighbours `pitch` apart do not touch.
std::int64_t label_stride(double pitch, double needed) {
  std::int64_t stride = 1;
  for (int i = 0; static_cast<double>(stride) * pitch < needed; ++i) {
    stride = stride * (i % 3 == 1 ? 5 : 2) / (i % 3 == 1 ? 2 : 1);  // 1 2 5 10 20 50 ...
  }
  return stride;
}

void check(const Heatmap& map) {
  const auto fail = [&](const std::string& what) {
    throw Error("heatmap: " + std::to_string(map.rows) + " rows x " + std::to_string(map.columns) +
                " columns " + what);
  };
  if (map.rows < 1 || map.columns < 1) fail("have nothing to show; both must be at least 1");
  const std::size_t cells = cells_of("heatmap", map.rows, map.columns);
  const auto need = [&](const std::string& name, std::size_t size, std::size_t wanted) {
    if (size != wanted) {
      fail("need " + std::to_string(wanted) + " " + name + ", but " + std::to_string(size) +
           " were given");
    }
  };
  need("values", map.values.size(), cells);
  if (!map.masked.empty()) need("masked flags", map.masked.size(), cells);
  if (!map.row_labels.empty()) need("row labels", map.row_labels.size(), map.rows);
  if (!map.column_labels.empty()) need("column labels", map.column_labels.size(), map.columns);
}

ColourRange range_of(const Heatmap& map) {
  ColourRange range{0, 0};
  bool seen = false;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const double value = map.values[i];
    if (!std::isfinite(value) || (!map.masked.empty() && map.masked[i])) continue;
    range.low = seen ? std::min(range.low, value) : value;
    range.high = seen ? std::max(range.high, value) : value;
    seen = true;
  }
  if (map.colours == ColourMap::blue_orange) {
    const double reach = std::max(std::abs(range.low), std::abs(range.high));
    range = {-reach, reach};
  } else {
    range.low = std::min(range.low, 0.0);
  }
  range = {map.low.value_or(range.low), map.high.value_or(range.high)};
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high) {
    throw Error(
        "heatmap: the colour range needs finite ends, low at most high; leave low and high "
        "empty for an automatic one");
  }
  const double widen = range.low == range.high ? std::max(0.5, 0.5 * std::abs(range.low)) : 0;
  return {range.low - widen, range.high + widen};
}

PooledHeatmap pooled(const Heatmap& map, std::int64_t most_cells) {
  PooledHeatmap small{map};
  const std::int64_t down = (map.rows + most_cells - 1) / most_cells;
  const std::int64_t across = (map.columns + most_cells - 1) / most_cells;
  if (down == 1 && across == 1) return small;
  small.row_block = down;
  small.column_block = across;
  small.rows = (map.rows + down - 1) / down;
  small.columns = (map.columns + across - 1) / across;
  average_blocks(map, small);
  small.row_labels = every(map.row_labels, down);
  small.column_labels = every(map.column_labels, across);
  small.subtitle += (map.subtitle.empty() ? "" : " · ") + std::to_string(map.rows) + " × " +
                    std::to_string(map.columns) + " values; each cell is the mean of " +
                    std::to_string(down) + " × " + std::to_string(across);
  return small;
}

HeatmapLayout layout_for(const PooledHeatmap& map, double cell_width) {
  HeatmapLayout layout;
  layout.row_labels = labels_of(map.row_labels, map.rows, map.row_block);
  layout.column_labels = labels_of(map.column_labels, map.columns, map.column_block);
  layout.range = range_of(map);
  const TextStyle style = label_style();
  layout.left = widest(layout.row_labels, style) + 9 + (map.row_axis.empty() ? 0 : 26);
  layout.right = map.colour_bar ? bar_room(map, layout.range) : 2;
  // Indices are thinned out instead of rotated.
  layout.turned = !map.column_labels.empty() && are_crowded(layout, cell_width, map.colour_bar);
  layout.bottom = column_label_room(layout) + (map.column_axis.empty() ? 0 : 24);
  return layout;
}

TextStyle label_style() {
  TextStyle style{type::label};
  style.subscripts = false;
  return style;
}

Size comfortable_cells(const Heatmap& map) {
  const double side = comfortable_cell(std::max(map.rows, map.columns));
  const std::int64_t shorter = std::min(map.rows, map.columns);
  // Very long strips get cells up to twice as high as wide, so that they stay visible.
  const double deep = std::clamp(60.0 / static_cast<double>(shorter), side, 2 * side);
  return {map.columns < map.rows ? deep : side, map.rows < map.columns ? deep : side};
}

Size fitted_cells(const Heatmap& map, double width, double height) {
  const double across = width / static_cast<double>(map.columns);
  const double down = height / static_cast<double>(map.rows);
  const double side = std::min(across, down);
  const double ratio = static_cast<double>(std::max(map.rows, map.columns)) /
                       static_cast<double>(std::min(map.rows, map.columns));
  const double stretch = ratio > 4 ? 2 : 1;
  return {std::min(across, stretch * side), std::min(down, stretch * side)};
}

}  // namespace tapestry::plot
