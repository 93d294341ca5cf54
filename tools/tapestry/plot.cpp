// `tapestry plot`: pictures of the tensors in a file, from any program.
#include <algorithm>
#include <cmath>
#include <set>

#include "commands.hpp"
#include "measures.hpp"
#include "model_file.hpp"
#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/io/checkpoint.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/io/weight_files.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/flow.hpp"
#include "tapestry/plot/heatmap_grid.hpp"
#include "tapestry/plot/surface.hpp"
#include "tapestry/plot/svg.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

void write(const plot::Canvas& canvas, const Path& path) {
  plot::write_picture(canvas, path);
  print("wrote %s\n", path.c_str());
}

Safetensors tensors_in(const Path& path) {
  char begin[6] = {};
  read_file("plot", path, [&](std::ifstream& file, std::uint64_t) {
    file.read(begin, sizeof begin);  // a shorter one is neither
  });
  if (std::string(begin, sizeof begin) == "\x93NUMPY") {
    return {{{path.stem().string(), read_npy(path)}}, {}};
  }
  return read_checkpoint(path).weights;  // without the optimiser's state
}

[[noreturn]] void refuse_all(const Path& path, std::size_t count, const std::string& first) {
  throw Error(path.string() + " holds " + std::to_string(count) +
              " tensors; choose one with --tensor NAME, " + in_quotes(first) + " for example.");
}

constexpr std::size_t most_tensors = 100;  // drawn at once

Parameters chosen_of_folder(const PlotOptions& options) {
  const WeightFiles files(options.model);
  Parameters list;
  const auto add = [&](const WeightEntry& entry) {
    list.push_back({entry.name, Tensor::empty(entry.shape)});
    files.read(entry.name, list.back().value);
  };
  if (!options.tensor.empty()) {
    add(files[options.tensor]);
    return list;
  }
  const std::vector<WeightEntry>& all = files.entries();
  if (all.empty()) throw Error(options.model.string() + " holds no tensors.");
  if (all.size() > most_tensors) refuse_all(options.model, all.size(), all.front().name);
  for (const WeightEntry& entry : all) add(entry);
  return list;
}

Parameters chosen(const PlotOptions& options) {
  if (!options.model.empty()) return chosen_of_folder(options);
  if (options.file.empty()) throw Error("FILE is required, or --model.");
  const Safetensors file = tensors_in(options.file);
  if (!options.tensor.empty()) return {{options.tensor, file[options.tensor]}};
  const Parameters& all = file.tensors;
  if (all.empty() && !file.skipped.empty()) {
    throw Error(options.file.string() + " holds no readable tensor. Of " +
                in_quotes(file.skipped.front().name) + ": " + file.skipped.front().why + ".");
  }
  if (all.empty()) throw Error(options.file.string() + " holds no tensors.");
  if (all.size() > most_tensors) refuse_all(options.file, all.size(), all.front().name);
  for (const auto& [name, why] : file.skipped) {
    print("%s\n", folded(printable(name) + ": " + why, 2).c_str());
  }
  return all;
}

// A name from a file as a file name without a path; never the same one twice.
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

// Each row sums to 1, or to 0 if fully masked; no element is negative.
bool is_attention(const Tensor& x) {
  if (x.ndim() < 2 || x.size(-1) < 2 || x.size(-2) < 1) return false;
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

plot::ColourMap colours_of(const Tensor& x) {
  const std::vector<real> values = x.values();
  const bool negative = std::any_of(values.begin(), values.end(), [](real v) { return v < 0; });
  return negative ? plot::ColourMap::blue_orange : plot::ColourMap::blues;
}

plot::Heatmap heatmap(const Tensor& matrix, const std::string& title, bool attention) {
  plot::Heatmap map;
  map.rows = matrix.size(0);
  map.columns = matrix.size(1);
  map.values = doubles(matrix);
  map.title = title;
  if (attention) {
    map.low = 0;
    map.high = 1;
    map.colour_bar_name = "attention weight";
    return map;
  }
  map.row_axis = "row";
  map.column_axis = "column";
  map.colours = colours_of(matrix);
  return map;
}

void draw_list(const Tensor& x, const std::string& title, const Path& path) {
  constexpr Index most = 4096;
  const Index step = (x.numel() + most - 1) / most;
  plot::LineChart chart;
  chart.title = title;
  if (step > 1) chart.subtitle = "one number in " + std::to_string(step) + " is drawn";
  chart.x_axis.name = "place";
  plot::Series line{"", {}, {}};
  for (Index i = 0; i < x.numel(); i += step) {
    line.x.push_back(double(i));
    line.y.push_back(double{x.at({i})});
  }
  chart.series = {line};
  chart.series.front().markers = x.numel() <= 64;
  write(plot::render(chart), path);
}

// maps (n, queries, keys): entropy and distance of each, with those of equal weights as a line.
void draw_measures(const Tensor& maps, const std::string& title, const Path& path) {
  const bool causal = is_causal(maps);
  plot::BarChart entropy, distance;
  plot::BarSeries nats{"", {}}, positions{"", {}};
  Measures last;
  for (Index i = 0; i < maps.size(0); ++i) {
    last = measure(squeeze(slice(maps, 0, i, i + 1), 0), causal ? Mask::causal() : Mask());
    entropy.labels.push_back(std::to_string(i));
    nats.values.push_back(last.entropy);
    positions.values.push_back(last.distance);
  }
  distance.labels = entropy.labels;
  entropy.title = plot::fit_text("Entropy: " + title, 500, {.size = 18});
  distance.title = "Distance between query and key";
  entropy.label_axis = distance.label_axis = "map";
  entropy.y_axis.name = "nats";
  distance.y_axis.name = "positions";
  entropy.series = {nats};
  distance.series = {positions};
  entropy.reference_lines = {{last.even_entropy, "even weights"}};
  distance.reference_lines = {{last.even_distance, "even weights"}};
  plot::Canvas canvas(1240, 420);
  const auto panels = plot::panels(canvas.area().inset(16), 1, 2);
  plot::draw(canvas, panels[0], entropy);
  plot::draw(canvas, panels[1], distance);
  write(canvas, path);
}

std::vector<std::string> places(Index count) {
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

// maps (n, queries, keys): their mean as arrows and as a 3-D chart.
void draw_mean(const Tensor& maps, const PictureOptions& out, const std::string& name) {
  const Tensor weights = mean(maps, 0);
  const std::string title =
      maps.size(0) == 1 ? "" : "mean of " + std::to_string(maps.size(0)) + " maps";
  plot::Flow flow;
  flow.queries = places(weights.size(0));
  flow.keys = places(weights.size(1));
  flow.weights = doubles(weights);
  for (double& weight : flow.weights) weight = std::clamp(weight, 0.0, 1.0);  // rounding
  flow.title = title;
  write(plot::render(flow), out.path(name + "_flow"));
  write(plot::render_surface(heatmap(weights, title, true)), out.path(name + "_surface"));
}

// x (..., rows, columns): one heatmap, or a grid of them, as many columns as the last leading axis.
void draw_maps(const Tensor& x, const std::string& title, const PictureOptions& out,
               const std::string& name) {
  const bool attention = is_attention(x);
  const Index rows = x.size(-2), columns = x.size(-1), count = x.numel() / (rows * columns);
  const Index shown = std::min<Index>(count, 64);
  const Tensor maps = slice(reshape(x, {count, rows, columns}), 0, 0, shown);
  const auto at = [&](Index i) { return squeeze(slice(maps, 0, i, i + 1), 0).contiguous(); };
  if (count > shown) print("  of %lld maps the first 64 are drawn\n", (long long)count);
  const Path path = out.path(name);
  if (count == 1) {
    write(plot::render(heatmap(at(0), title, attention)), path);
  } else {
    plot::HeatmapGrid grid;
    grid.title = title;
    grid.columns = x.size(-3) <= 16 ? x.size(-3) : 8;
    for (Index i = 0; i < shown; ++i) {
      grid.maps.push_back(heatmap(at(i), std::to_string(i), attention));
    }
    for (plot::Heatmap& map : grid.maps) map.colours = colours_of(maps);
    write(plot::render(grid), path);
  }
  if (!attention) return;
  draw_measures(maps, title, out.path(name + "_measures"));
  draw_mean(maps, out, name);
}

void draw_tensor(const Parameter& tensor, const PictureOptions& out, std::set<std::string>& used) {
  const std::string title = printable(tensor.name) + " " + to_string(tensor.value.shape());
  print("%s\n", folded(printable(tensor.name) + ": " + summary(tensor.value), 2).c_str());
  const std::vector<real> values = tensor.value.values();
  const bool visible =
      std::any_of(values.begin(), values.end(), [](real v) { return std::isfinite(v); });
  if (!visible || tensor.value.ndim() == 0) {
    print("  nothing to draw\n");
    return;
  }
  const std::string name = file_name(tensor.name, used);
  if (tensor.value.ndim() == 1) return draw_list(tensor.value, title, out.path(name));
  draw_maps(tensor.value, title, out, name);
}

}  // namespace

void plot(const PlotOptions& options) {
  std::set<std::string> used;
  for (const Parameter& tensor : chosen(options)) draw_tensor(tensor, options, used);
}

}  // namespace tapestry::command
