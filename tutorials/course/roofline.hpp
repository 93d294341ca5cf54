// A roofline, drawn from what was measured.
#pragma once

#include <string>
#include <vector>

#include "course/machine.hpp"
#include "tapestry/plot/charts.hpp"

namespace tapestry {

// Measured work for a roofline.
struct Workload {
  std::string name = {};
  double flops_per_byte;  // floating point operations per byte that has to be moved
  double gflops;
};

// The roofline of one core (Williams, Waterman, Patterson 2009), with each workload as a point:
// no loop of ours can be far above both lines, each of which another loop of ours measured.
plot::LineChart roofline(const Machine& machine, const std::vector<Workload>& workloads);

}  // namespace tapestry
