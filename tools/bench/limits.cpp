#include "limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "clock.hpp"
#include "kernels/table.hpp"

namespace tapestry::bench {
namespace {

constexpr double seconds_each = 0.1;
constexpr double smallest_array = 1 << 20, largest_array = 1 << 30;

// The shortest time of work(thread) on all threads at once.
template <class Work>
double best_seconds(int threads, const Work& work) {
  double best = 1e9;
  for (const double start = now(); now() - start < seconds_each;) {
    const double before = now();
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int thread = 0; thread < threads; ++thread) work(thread);
    best = std::min(best, now() - before);
  }
  return best;
}

double measure_gflops(int threads) {
  const kernels::Table& table = kernels::active();
  std::vector<double> operations(std::size_t(threads), 0);
  const double best = best_seconds(threads, [&](int thread) {
    real sink = 0;
    operations[std::size_t(thread)] = table.fma_burst(200000, &sink);
  });
  return threads * operations.front() / best / 1e9;
}

double measure_reading(int threads, double bytes) {
  const kernels::Table& table = kernels::active();
  const Index part = static_cast<Index>(bytes) / threads / Index(sizeof(real));
  const std::vector<real> numbers(std::size_t(part * threads), real(1));
  const double best = best_seconds(threads, [&](int thread) {
    real total = 0;
    table.sum(numbers.data() + thread * part, 1, part, 1, &total);
  });
  return static_cast<double>(numbers.size() * sizeof(real)) / best / 1e9;
}

}  // namespace

Limits::Limits(int threads) : threads_(threads), peak_gflops_(measure_gflops(threads)) {}

double Limits::gb_per_second(double bytes) {
  const double rounded = std::exp2(std::round(std::log2(std::max(bytes, 1.0))));
  const double size = std::clamp(rounded, smallest_array, largest_array);
  const auto found = gb_per_second_.find(size);
  if (found != gb_per_second_.end()) return found->second;
  return gb_per_second_[size] = measure_reading(threads_, size);
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
