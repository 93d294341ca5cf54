// `tapestry plot`: pictures of the numbers in a file, whichever program wrote it.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "commands.hpp"
#include "grid.hpp"
#include "measures.hpp"
#include "model_file.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/io/safetensors.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"
#include "unicode.hpp"

namespace tapestry::command {
namespace {

void write(const plot::Canvas& canvas, const Path& path) {
  plot::write_png(canvas, path);
  print("wrote %s\n", path.c_str());
}

Parameters tensors_in(const Path& path) {
  std::ifstream file(path, std::ios::binary);
  char begin[6] = {};
  file.read(begin, sizeof begin);
  if (std::string(begin, sizeof begin) == "\x93NUMPY") {
    return {{path.stem().string(), read_npy(path)}};
  }
  return read_safetensors(path).tensors;
}

Parameters chosen(const PlotOptions& options) {
  constexpr std::size_t most = 100;
  const Parameters all = tensors_in(options.file);
  if (!options.tensor.empty()) {
    return {{options.tensor, Safetensors{all, {}}[options.tensor]}};
  }
  if (all.empty()) throw Error(options.file.string() + " holds no tensors.");
  if (all.size() <= most) return all;
  throw Error(options.file.string() + " holds " + std::to_string(all.size()) +
              " tensors; choose one with --tensor NAME, " + in_quotes(all.front().name) +
              " for example.");
}

// A name from a file, as a file name that cannot lead anywhere else; never the same one twice.
std::string file_name(const std::string& tensor, std::set<std::string>& used) {
  std::string name;
  for (const char c : tensor.substr(0, 80)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    name += plain ? c : '_';
  }
  if (name.empty()) name = "_";
  std::string one = name;
  for (int i = 2; !used.insert(one).second; ++i) one = name + "_" + std::to_string(i);
  return "plot_" + one;
}

// Each row adds up to 1, or to 0 where nothing may be seen; nothing is negative.
bool is_attention(const Tensor& x) {
  if (x.rank() < 2 || x.size(-1) < 2 || x.size(-2) < 1) return false;
  for (const real total : sum(x, -1).values()) {
    if (!(std::abs(double{total} - 1) < 1e-3 || total == 0)) return false;
  }
  const std::vector<real> values = x.values();
  return std::all_of(values.begin(), values.end(), [](real v) { return v >= 0; }) &&
         std::any_of(values.begin(), values.end(), [](real v) { return v > 0; });
}

// No key later than its query ever has weight.
bool is_causal(const Tensor& maps) {
  for (Index m = 0; m < maps.size(0); ++m) {
    for (Index i = 0; i < maps.size(1); ++i) {
      for (Index j = i + 1; j < maps.size(2); ++j) {
        if (maps.at({m, i, j}) != 0) return false;
      }
    }
  }
  return maps.size(1) == maps.size(2);
}

plot::Heatmap heatmap(const Tensor& matrix, const std::string& title, bool attention) {
  if (attention) return tapestry::attention_heatmap(matrix, {}, {}, title);
  plot::Heatmap map{.rows = matrix.size(0), .columns = matrix.size(1), .values = doubles(matrix)};
  map.title = title;
  map.row_axis = "row";
  map.column_axis = "column";
  const bool negative =
      std::any_of(map.values.begin(), map.values.end(), [](double v) { return v < 0; });
  if (negative) map.colours = plot::ColourMap::blue_orange;
  return map;
}

void draw_list(const Tensor& x, const std::string& title, const Path& path) {
  plot::LineChart chart;
  chart.title = title;
  chart.x_axis.name = "place";
  chart.series = {{"", doubles(Tensor::arange(x.count())), doubles(x)}};
  chart.series.front().markers = x.count() <= 64;
  write(plot::render(chart), path);
}

// maps (n, queries, keys): entropy and distance of each, beside those of even weights.
void draw_measures(const Tensor& maps, const std::string& title, const Path& path) {
  const bool causal = is_causal(maps);
  plot::BarChart entropy, distance;
  plot::BarSeries e{"weights", {}}, e0{"even", {}}, d = e, d0 = e0;
  for (Index i = 0; i < std::min<Index>(maps.size(0), 64); ++i) {
    const Measures m = measure(squeeze(slice(maps, 0, i, i + 1), 0), causal);
    entropy.labels.push_back(std::to_string(i));
    e.values.push_back(m.entropy);
    e0.values.push_back(m.even_entropy);
    d.values.push_back(m.distance);
    d0.values.push_back(m.even_distance);
  }
  distance.labels = entropy.labels;
  entropy.title = plot::fit_text(title + ": entropy", 600, {});
  distance.title = "distance";
  entropy.label_axis = distance.label_axis = "map";
  entropy.y_axis.name = "nats";
  distance.y_axis.name = "positions";
  entropy.series = {e, e0};
  distance.series = {d, d0};
  plot::Canvas canvas(1240, 420);
  const auto panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], entropy);
  plot::draw(canvas, panels[1], distance);
  write(canvas, path);
}

void draw_maps(const Tensor& x, const std::string& title, const Path& out,
               const std::string& name) {
  const bool attention = is_attention(x);
  const Index rows = x.size(-2), columns = x.size(-1), count = x.count() / (rows * columns);
  const Tensor maps = reshape(x, {count, rows, columns});
  const auto at = [&](Index i) { return squeeze(slice(maps, 0, i, i + 1), 0).contiguous(); };
  if (count == 1) {
    write(plot::render(heatmap(at(0), title, attention)), out / (name + ".png"));
  } else {
    Grid grid{.maps = {}, .columns = 1, .bar = attention ? "attention weight" : "", .title = title};
    const Index last = x.size(-3);
    grid.columns = static_cast<int>(last <= 8 || x.rank() > 3 ? last : Index(std::ceil(std::sqrt(double(last)))));
    for (Index i = 0; i < std::min<Index>(count, 256); ++i) {
      grid.maps.push_back(heatmap(at(i), std::to_string(i), attention));
    }
    write_grid(std::move(grid), out / (name + ".png"));
    print("wrote %s\n", (out / (name + ".png")).c_str());
  }
  if (attention) draw_measures(maps, title, out / (name + "_measures.png"));
}

void draw_tensor(const Parameter& tensor, const Path& out, std::set<std::string>& used) {
  const std::string title = printable(tensor.name) + " " + to_string(tensor.value.shape());
  print("%s\n", folded(printable(tensor.name) + ": " + summary(tensor.value), 2).c_str());
  if (tensor.value.count() == 0 || tensor.value.rank() == 0) {
    print("  nothing to draw\n");
    return;
  }
  const std::string name = file_name(tensor.name, used);
  if (tensor.value.rank() == 1) return draw_list(tensor.value, title, out / (name + ".png"));
  draw_maps(tensor.value, title, out, name);
}

}  // namespace

void plot(const PlotOptions& options) {
  std::set<std::string> used;
  for (const Parameter& tensor : chosen(options)) draw_tensor(tensor, options.out, used);
}

}  // namespace tapestry::command
