#include <algorithm>
#include <cmath>

#include "report.hpp"
#include "tapestry/machine.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/charts.hpp"
#include "tapestry/plot/png.hpp"

namespace tapestry::bench {
namespace {

// The second roof: arrays of 16 MB, which most rows move, come from the caches.
plot::Series cache_roof(const plot::LineChart& chart, double peak, double gb_per_second) {
  const double left = *chart.x_axis.low;
  plot::Series roof{
      "16 MB, read again and again", {left, peak / gb_per_second}, {left * gb_per_second, peak}};
  roof.dashed = true;
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
  std::vector<Workload> workloads;
  for (const Result& result : report.results) {
    if (result.threads != report.limits.begin()->first) continue;
    const Row& row = result.row;
    workloads.push_back(
        {row.group == "matmul" || row.group == "moving" ? row.name : row.group + " " + row.name,
         row.flops / row.bytes, result.gflops()});
  }
  if (workloads.empty()) return false;
  plot::LineChart chart = roofline(machine, workloads);
  chart.title = "Every row of make bench against the limits of this machine";
  chart.subtitle = "one thread, " + kernel_set() + " kernels, " + processor();
  chart.y_axis.high = 5 * machine.peak_gflops;  // room for names above the roof
  chart.series.push_back(cache_roof(chart, machine.peak_gflops, limits.gb_per_second(1 << 24)));
  plot::write_png(plot::render(chart, 1200, 900, 1.5), file);
  return true;
}

bool draw_threads(const Report& report, const std::filesystem::path& file) {
  plot::LineChart chart;
  chart.title = "What more threads bring";
  chart.subtitle = "times as fast as one thread; " + kernel_set() + " kernels, " + processor();
  chart.x_axis = {.name = "threads", .log = true};
  chart.y_axis = {.name = "times as fast", .log = true};
  plot::Series perfect{"perfect", {1}, {1}};
  perfect.dashed = true;
  perfect.colour = plot::theme::accent;
  for (const std::vector<Result>& curve : curves(report.results)) {
    plot::Series series{threads_text(curve), {}, {}};
    series.markers = true;
    for (const Result& result : curve) {
      series.x.push_back(result.threads);
      series.y.push_back(curve.front().ours() / result.ours());
    }
    chart.series.push_back(series);
    const double most = std::max(perfect.x.back(), double(curve.back().threads));
    perfect.x = perfect.y = {1, most};
  }
  if (chart.series.empty()) return false;
  chart.series.push_back(perfect);
  plot::write_png(plot::render(chart), file);
  return true;
}

}  // namespace tapestry::bench
