#include "limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "clock.hpp"
#include "kernels/parallel.hpp"
#include "kernels/table.hpp"

namespace tapestry::bench {
namespace {

constexpr double smallest_array = 1 << 20, largest_array = 1 << 30;

// The shortest time of work(thread) on all threads at once, tried for about `seconds`.
template <class Work>
double best_seconds(int threads, double seconds, const Work& work) {
  const auto on_all = [&] {
    kernels::parallel_tasks(threads, 1, [&](Index thread) { work(int(thread)); });
  };
  return race({{"limit", on_all}}, threads, seconds).front();
}

double measure_gflops(int threads, double seconds) {
  const kernels::Table& table = kernels::active();
  std::vector<double> operations(std::size_t(threads), 0);
  const double best = best_seconds(threads, seconds, [&](int thread) {
    real sink = 0;
    operations[std::size_t(thread)] = table.fma_burst(200000, &sink);
  });
  return threads * operations.front() / best / 1e9;
}

double measure_reading(int threads, double bytes, double seconds) {
  const kernels::Table& table = kernels::active();
  const Index part = static_cast<Index>(bytes) / threads / Index(sizeof(real));
  const std::vector<real> numbers(std::size_t(part * threads), real(1));
  const double best = best_seconds(threads, seconds, [&](int thread) {
    real total = 0;
    table.sum(numbers.data() + thread * part, 1, part, 1, &total);
  });
  return static_cast<double>(numbers.size() * sizeof(real)) / best / 1e9;
}

}  // namespace

double Limits::peak_gflops() {
  peak_gflops_ = std::max(peak_gflops_, measure_gflops(threads_, peak_gflops_ == 0 ? 0.15 : 0.03));
  if (fewer_ != nullptr) peak_gflops_ = std::max(peak_gflops_, fewer_->peak_gflops());
  return peak_gflops_;
}

double Limits::gb_per_second(double bytes) {
  const double rounded = std::exp2(std::round(std::log2(std::max(bytes, 1.0))));
  const double size = std::clamp(rounded, smallest_array, largest_array);
  double& best = gb_per_second_[size];
  best = std::max(best, measure_reading(threads_, size, best == 0 ? 0.15 : 0.03));
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
