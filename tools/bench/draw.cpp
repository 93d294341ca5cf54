#include <algorithm>
#include <map>

#include "course/roofline.hpp"
#include "report.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"

namespace tapestry::bench {
namespace {

// The rows named in the roofline: those in the README, and outliers. The others are dots.
const std::map<std::string, std::string> labels = {
    {"matmul 64 x 64 x 64", "64 x 64 x 64"},
    {"matmul 1 x 768 x 768, B transposed", "vector times matrix"},
    {"softmax forward 1024 x 1024", "softmax forward"},
    {"softmax backward 64 x 50257", "softmax backward"},
    {"layer norm backward 4096 x 512", "layer norm backward"},
    {"gelu forward 4096 x 512", "gelu forward"},
    {"moving bias add 4096 x 512 + 512", "bias add"},
    {"moving dropout 4096 x 512", "dropout"},
    {"moving sum of 16777216", "sum"},
    {"moving cross entropy both ways 2048 x 8192", "cross entropy"},
    {"moving embedding backward 4096 of 8192x512", "embedding backward"},
    {"attention forward B32 H8 L128 D64", "attention forward L128"},
    {"attention both ways B32 H8 L128 D64", "both ways L128"},
    {"attention forward B1 H12 L1024 D64", "forward L1024"},
    {"attention both ways B1 H8 L4096 D64", "both ways L4096"},
    {"model GPT step B12 V65 L64 d128 h4 n4", "GPT step"},
};

double flops_per_byte(const Row& row) { return row.flops / row.bytes; }

// The limits, with room for all rows, and the names of some.
plot::LineChart named_roofline(const Machine& machine, const std::vector<Result>& results) {
  std::vector<Workload> workloads;
  for (const Result& result : results) {
    const auto label = labels.find(result.row.group + " " + result.row.name);
    workloads.push_back(
        {label == labels.end() ? "" : label->second, flops_per_byte(result.row), result.gflops()});
  }
  plot::LineChart chart = roofline(machine, workloads);
  for (plot::Annotation& note : chart.annotations) note.marker = false;
  std::erase_if(chart.annotations, [](const plot::Annotation& note) { return note.text.empty(); });
  return chart;
}

// A dot for each row, in the colour of its group.
void add_dots(const std::vector<Result>& results, plot::LineChart& chart) {
  for (const Result& result : results) {
    if (chart.series.back().name != result.row.group) {
      plot::Series dots{result.row.group, {}, {}};
      dots.line = false;
      dots.markers = true;
      dots.colour = plot::series_colour(chart.series.size() - 1);  // the limits are grey
      chart.series.push_back(dots);
    }
    chart.series.back().x.push_back(flops_per_byte(result.row));
    chart.series.back().y.push_back(result.gflops());
  }
}

// The second roof: arrays of 16 MB, which most rows move, come from the caches.
plot::Series cache_roof(const plot::LineChart& chart, double peak, double gb_per_second) {
  const double left = *chart.x_axis.low;
  plot::Series roof{
      "16 MB, read again and again", {left, peak / gb_per_second}, {left * gb_per_second, peak}};
  roof.dashed = true;
  roof.colour = plot::theme::frame;
  return roof;
}

std::string threads_text(const std::vector<Result>& curve) {
  return curve.front().row.group + " " + curve.front().row.name;
}

}  // namespace

std::vector<std::vector<Result>> curves(const std::vector<Result>& results) {
  std::vector<std::vector<Result>> found;
  for (const Result& result : results) {
    if (!result.row.curve) continue;
    const bool same = !found.empty() && found.back().front().row.group == result.row.group &&
                      found.back().front().row.name == result.row.name;
    if (!same) found.emplace_back();
    found.back().push_back(result);
  }
  std::erase_if(found, [](const std::vector<Result>& curve) { return curve.size() < 2; });
  return found;
}

bool draw_roofline(Report& report, const std::filesystem::path& file) {
  Limits& limits = report.limits.begin()->second;
  Machine machine;
  machine.peak_gflops = limits.peak_gflops();
  machine.read_gb_per_second = limits.gb_per_second(bytes_beyond_caches());
  std::vector<Result> results = report.results;
  std::erase_if(results, [&](const Result& result) {
    return result.threads != report.limits.begin()->first;
  });
  if (results.empty()) return false;
  plot::LineChart chart = named_roofline(machine, results);
  chart.title = "Every row of make bench against the limits of this machine";
  chart.subtitle = "one thread, " + kernel_set() + " kernels, " + processor();
  chart.y_axis.high = 2.5 * machine.peak_gflops;  // room for names above the roof
  chart.series.front().colour = plot::theme::accent;
  add_dots(results, chart);
  chart.series.push_back(cache_roof(chart, machine.peak_gflops, limits.gb_per_second(1 << 24)));
  plot::write_png(plot::render(chart, 1000, 720), file);
  return true;
}

bool draw_threads(const Report& report, const std::filesystem::path& file) {
  plot::LineChart chart;
  chart.title = "What more threads bring";
  chart.subtitle = "times as fast as one thread; " + kernel_set() + " kernels, " + processor();
  chart.x_axis = {.name = "threads", .log = true};
  chart.y_axis = {.name = "times as fast", .log = true};
  double best = 1;
  plot::Series perfect{"perfect", {1}, {1}};
  perfect.dashed = true;
  perfect.colour = plot::theme::accent;
  for (const std::vector<Result>& curve : curves(report.results)) {
    plot::Series series{threads_text(curve), {}, {}};
    series.markers = true;
    for (const Result& result : curve) {
      series.x.push_back(result.threads);
      series.y.push_back(result.times_one_thread());
      best = std::max({best, series.x.back(), series.y.back()});
    }
    chart.series.push_back(series);
    const double most = std::max(perfect.x.back(), double(curve.back().threads));
    perfect.x = perfect.y = {1, most};
  }
  if (chart.series.empty()) return false;
  chart.series.push_back(perfect);
  chart.y_axis.high = 1.1 * best;
  plot::write_png(plot::render(chart), file);
  return true;
}

}  // namespace tapestry::bench
