#include "course/roofline.hpp"

#include <algorithm>

namespace tapestry {

plot::LineChart roofline(const Machine& machine, const std::vector<Workload>& workloads) {
  double left = 0.1, right = 1000, bottom = 0.3;  // wide enough for all, with some room
  for (const Workload& work : workloads) {
    left = std::min(left, work.flops_per_byte / 2);
    right = std::max(right, work.flops_per_byte * 2);
    bottom = std::min(bottom, work.gflops / 2);
  }
  const double ridge = machine.peak_gflops / machine.read_gb_per_second;
  plot::LineChart chart;
  chart.x_axis = {
      .name = "floating point operations per byte moved", .log = true, .low = left, .high = right};
  chart.y_axis = {.name = "GFLOP/s", .log = true, .low = bottom, .high = {}};
  chart.series.push_back(
      {"limit: memory (slope), then arithmetic (flat)",
       {left, ridge, right},
       {left * machine.read_gb_per_second, machine.peak_gflops, machine.peak_gflops}});
  for (const Workload& work : workloads) {
    chart.annotations.push_back({work.flops_per_byte, work.gflops, work.name});
  }
  return chart;
}

}  // namespace tapestry
