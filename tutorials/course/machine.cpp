#include "course/machine.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "tapestry/kernels.hpp"
#include "tapestry/ops.hpp"

namespace tapestry {
namespace {

double seconds() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

// However slow they were: one run alone may have been disturbed.
constexpr int least_runs = 3;

// The best of several short runs: what the core can do when nothing disturbs it.
double best_gflops() {
  double best = 0;
  const double start = seconds();
  Index rounds = 1000;
  for (int timed = 0; timed < least_runs || seconds() - start < 0.1;) {
    const double before = seconds();
    const double operations = multiply_add_burst(rounds);
    const double taken = seconds() - before;
    if (taken < 0.002) {
      rounds *= 2;  // too short to time well
    } else {
      best = std::max(best, operations / taken / 1e9);
      ++timed;
    }
  }
  return best;
}

// While it lives, the library computes on the calling thread alone.
class OneThread {
 public:
  OneThread() { use_threads(1); }
  ~OneThread() { use_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = threads_in_use();
};

// Adds up an array several times the size of common last-level caches. It lies in memory as tensors
// do: in small pages the same read can take twice as long.
double best_read_gb() {
  const OneThread alone;
  constexpr Index n = Index(128) * 1000 * 1000 / Index(sizeof(real));
  const Tensor numbers = Tensor::ones({n});
  double best = 0;
  const double start = seconds();
  for (int timed = 0; timed < least_runs || seconds() - start < 0.15; ++timed) {
    const double before = seconds();
    sum(numbers);
    best = std::max(best, double(n) * double(sizeof(real)) / (seconds() - before) / 1e9);
  }
  return best;
}

}  // namespace

Machine measure_machine() {
  Machine machine;
  machine.kernels = kernel_set();
  machine.peak_gflops = best_gflops();
  machine.read_gb_per_second = best_read_gb();
  machine.threads = threads_in_use();
  return machine;
}

double processor_seconds(const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace tapestry
