#include "course/long_text_pictures.hpp"

#include <string>

#include "tapestry/pictures.hpp"

namespace tapestry {
namespace {

// weights (rows, words)
plot::Heatmap map_of(const Tensor& weights, const std::string& title) {
  plot::Heatmap map{
      .rows = weights.size(0), .columns = weights.size(1), .values = doubles(weights)};
  map.title = title;
  map.subtitle =
      std::to_string(map.columns) + " words, equal scores: " + std::to_string(map.rows) + " rows";
  map.row_axis = "row of the output";
  map.column_axis = "word that is seen";
  map.print = plot::PrintValues::never;
  map.high = 0.125;
  map.colour_bar_name = "weight";
  return map;
}

}  // namespace

plot::Canvas chunks_picture(const std::vector<ChunkPeaks>& peaks) {
  plot::LineChart chart{.title = "Chunks of queries: peak memory, 1024 words"};
  chart.x_axis = {.name = "queries in a chunk", .log = true};
  chart.y_axis = {.name = "MiB", .low = 0};
  chart.series = {{"forward", {}, {}, true, true},
                  {"forward and backward", {}, {}, true, true},
                  {"forward and backward, checkpointed", {}, {}, true, true}};
  for (const ChunkPeaks& one : peaks) {
    for (plot::Series& line : chart.series) line.x.push_back(double(one.chunk));
    chart.series[0].y.push_back(one.forward);
    chart.series[1].y.push_back(one.both);
    chart.series[2].y.push_back(one.checkpointed);
  }
  return plot::render(chart);
}

plot::Canvas windows_picture(const Tensor& sliding, const Tensor& joined) {
  plot::Canvas canvas(1010, 520);
  const std::vector<plot::Rect> panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], map_of(sliding, "Sliding window, 8 to each side"));
  plot::draw(canvas, panels[1], map_of(joined, "Windows of 16, joined as a guide prints it"));
  return canvas;
}

}  // namespace tapestry
