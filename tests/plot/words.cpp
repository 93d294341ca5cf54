#include "plot/words.hpp"

#include <algorithm>
#include <cmath>

#include "plot/snapshot.hpp"

namespace tapestry::plot {

std::vector<Text> texts(const Canvas& canvas, Role role) {
  std::vector<Text> found = all<Text>(canvas);
  std::erase_if(found, [&](const Text& text) { return text.role != role; });
  return found;
}

Names words(const Canvas& canvas, Role role) {
  Names found;
  for (const Text& text : texts(canvas, role)) found.push_back(text.words);
  return found;
}

Point middle(const Text& text) {
  const auto c = corners(text);
  constexpr double capitals = 0.729, descent = 0.236;  // of DejaVu Sans (hhea table)
  return between(between(c[0], c[1], 0.5), between(c[3], c[2], 0.5),
                 capitals / 2 / (capitals + descent));
}

Rect bounds(const Text& text) {
  const auto c = corners(text);
  const auto [left, right] = std::minmax({c[0].x, c[1].x, c[2].x, c[3].x});
  const auto [top, bottom] = std::minmax({c[0].y, c[1].y, c[2].y, c[3].y});
  return {left, top, right - left, bottom - top};
}

namespace {

// Two convex shapes are apart where a line along a side of one has all of the other beyond it.
bool overlap(const Text& one, const Text& other) {
  const auto apart = [](const Text& a, const Text& b) {
    const auto p = corners(a), q = corners(b);
    for (std::size_t i = 0; i < 4; ++i) {
      const Point from = p[i], side = p[(i + 1) % 4] - from;
      if (std::all_of(q.begin(), q.end(), [&](Point far) {
            return side.x * (far.y - from.y) - side.y * (far.x - from.x) < 1e-9;
          })) {
        return true;
      }
    }
    return false;
  };
  return !apart(one, other) && !apart(other, one);
}

}  // namespace

std::string trouble(const Canvas& canvas) {
  std::vector<Text> before;
  for (const Element& element : canvas.elements()) {
    const Text* text = std::get_if<Text>(&element.what);
    if (text == nullptr) continue;
    const Rect seen = element.clip.value_or(canvas.area());
    for (const Point p : corners(*text)) {
      if (!seen.contains(p) || !canvas.area().contains(p)) return text->words + " is cut off";
    }
    for (const Text& other : before) {
      if (overlap(*text, other)) return text->words + " lies on " + other.words;
    }
    before.push_back(*text);
  }
  return "";
}

Names shown(const Names& labels) {
  Names cut;
  for (const std::string& label : labels) cut.push_back(fit_text(label, 150, {13}));
  return cut;
}

namespace sample {

const Names sentence{"the", "cat", "sat", "on", "Donaudampfschifffahrtsgesellschaftskapitän",
                     "mat"};

Heatmap matrix(const Names& rows, const Names& columns) {
  Heatmap map = attention_heatmap(sample_values(rows.size() * columns.size()), rows, columns,
                                  "Weights of one head");
  map.subtitle = "layer 1";
  return map;
}

Heatmap indices(std::int64_t rows, std::int64_t columns) {
  Heatmap map;
  map.rows = rows;
  map.columns = columns;
  map.values = sample_values(static_cast<std::size_t>(rows * columns), -2, 3);
  map.colours = ColourMap::blue_orange;
  map.title = "Weights of one head";
  map.colour_bar_name = "score";
  return map;
}

HeatmapGrid grid(const Names& words_of_maps) {
  HeatmapGrid grid;
  grid.columns = 3;
  grid.title = "Weights of one head";
  for (int k = 0; k < 5; ++k) {
    grid.maps.push_back(matrix(words_of_maps, words_of_maps));
    grid.maps.back().title = "head " + std::to_string(k);
  }
  return grid;
}

LineChart lines(bool log) {
  LineChart chart;
  chart.title = "Weights of one head";
  chart.x_axis = {"step", log, 1, 1000};
  chart.y_axis = {"loss", log, 1, 1000};
  const std::vector<double> ticks =
      log ? std::vector<double>{1, 10, 100, 1000} : std::vector<double>{200, 400, 600, 800, 1000};
  chart.series = {{"training", ticks, ticks}, {"held out", {1, 1000}, {500, 2}}};
  chart.series[0].markers = true;
  chart.reference_lines = {{300, "guessing"}};
  chart.annotations = {{30, 700, "the best"}, {40, 600, "the second"}};
  return chart;
}

BarChart bars(const Names& labels) {
  BarChart chart;
  chart.title = "Weights of one head";
  chart.label_axis = "head";
  chart.y_axis.name = "nats";
  chart.labels = labels;
  chart.series = {{"before", sample_values(labels.size(), 0.1, 2)},
                  {"after", sample_values(labels.size(), 0.3, 1)}};
  return chart;
}

DotPlot dots(const Names& labels, bool rows) {
  DotPlot chart;
  chart.title = "Weights of one head";
  chart.label_axis = "head";
  chart.value_axis.name = "steps";
  chart.labels = labels;
  chart.rows = rows;
  for (const std::string name : {"before", "after"}) {
    RunSeries series{name};
    for (std::size_t i = 0; i < labels.size(); ++i) series.groups.push_back({sample_values(i)});
    series.groups.front() = {{std::nan(""), 0.3, std::nan("")}, {1, 1}};
    chart.series.push_back(series);
  }
  chart.reference_lines = {{0.5, "guessing"}};
  return chart;
}

Flow flow() {
  return {sentence, sentence, sample_values(36), 0.4, "Weights of one head", "layer 1"};
}

Diagram diagram(Direction direction) {
  Diagram d;
  d.title = "Weights of one head";
  d.direction = direction;
  d.add({"input x", {"6 × 64"}});
  d.add({"Q = x W_Q", {"6 × 64", "and more"}});
  d.add({"K", {}, Thumbnail{3, 8, sample_values(24)}});
  d.add({"weights", {"6 × 6"}});
  d.connect(0, 1, "W_Q");
  d.connect(0, 2, "W_K");
  d.connect(1, 3, "softmax");
  d.connect(2, 3);
  return d;
}

}  // namespace sample

}  // namespace tapestry::plot
