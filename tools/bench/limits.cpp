#include "limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "clock.hpp"
#include "course/machine.hpp"
#include "tapestry/memory.hpp"

namespace tapestry::bench {
namespace {

constexpr double smallest_array = 1 << 20, largest_array = 1 << 30;
constexpr double first_seconds = 0.15, more_seconds = 0.03;  // to measure for

}  // namespace

double Limits::peak_gflops() {
  const double seconds = peak_gflops_ == 0 ? first_seconds : more_seconds;
  if (threads_ > 1) let_threads_rest();
  peak_gflops_ = std::max(peak_gflops_, tapestry::peak_gflops(threads_, seconds));
  if (fewer_ != nullptr) peak_gflops_ = std::max(peak_gflops_, fewer_->peak_gflops());
  return peak_gflops_;
}

double Limits::gb_per_second(double bytes) {
  const double rounded = std::exp2(std::round(std::log2(std::max(bytes, 1.0))));
  const double size = std::clamp(rounded, smallest_array, largest_array);
  double& best = gb_per_second_[size];
  const double seconds = best == 0 ? first_seconds : more_seconds;
  if (threads_ > 1) let_threads_rest();
  best = std::max(best, read_gb_per_second(threads_, size, seconds));
  release_pooled_memory();
  if (fewer_ != nullptr) best = std::max(best, fewer_->gb_per_second(bytes));
  return best;
}

double bytes_beyond_caches() {
  const double cache = static_cast<double>(sysconf(_SC_LEVEL3_CACHE_SIZE));
  return std::clamp(2 * cache, double(1 << 27), largest_array);
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace tapestry::bench
