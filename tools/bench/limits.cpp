#include "limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <thread>

#include "clock.hpp"
#include "course/machine.hpp"
#include "course/timing.hpp"
#include "tapestry/memory.hpp"

namespace tapestry::bench {
namespace {

constexpr double smallest_array = 1 << 20, largest_array = 1 << 30;
constexpr double first_seconds = 0.15, more_seconds = 0.03;  // to measure for
constexpr int batches = 20, rounds = 200;                    // of questions

// Each on a cache line of its own.
struct Lines {
  alignas(128) std::atomic<int> question{0};
  alignas(128) std::atomic<int> answer{0};
};

void wait_for(const std::atomic<int>& number, int wanted) {
  for (int spins = 1; number.load(std::memory_order_acquire) != wanted; ++spins) {
    if (spins % 10'000 == 0) std::this_thread::yield();  // the other may need this processor
  }
}

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

void AnswerTime::measure() {
  if (std::thread::hardware_concurrency() < 2) return;
  Lines lines;
  std::thread other([&lines] {
    for (int i = 1; i <= batches * rounds; ++i) {
      wait_for(lines.question, i);
      lines.answer.store(i, std::memory_order_release);
    }
  });
  double best = INFINITY;  // batches in which a thread was stopped take longer
  for (int batch = 0; batch < batches; ++batch) {
    const double start = now();
    for (int i = 1; i <= rounds; ++i) {
      lines.question.store(batch * rounds + i, std::memory_order_release);
      wait_for(lines.answer, batch * rounds + i);
    }
    best = std::min(best, 1e9 * (now() - start) / rounds);
  }
  other.join();
  shortest = shortest == 0 ? best : std::min(shortest, best);
  longest = std::max(longest, best);
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
