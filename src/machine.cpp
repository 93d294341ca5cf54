#include "tapestry/machine.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "kernels/pool.hpp"
#include "kernels/sets.hpp"
#include "kernels/table.hpp"
#include "tapestry/error.hpp"
#include "tapestry/memory.hpp"

namespace tapestry {
namespace {

double seconds() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

// However slow they were: one run alone may have been disturbed.
constexpr int least_runs = 3;

// The best of several short runs: what the core can do when nothing disturbs it.
double best_gflops(const kernels::Table& table) {
  real sink = 0;
  double best = 0;
  const double start = seconds();
  Index rounds = 1000;
  for (int timed = 0; timed < least_runs || seconds() - start < 0.1;) {
    const double before = seconds();
    const double operations = table.fma_burst(rounds, &sink);
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

// Adds up an array several times the size of common last-level caches. It lies in memory as tensors
// do: in small pages the same read can take twice as long.
double best_read_gb(const kernels::Table& table) {
  constexpr Index n = Index(128) * 1000 * 1000 / Index(sizeof(real));
  const Buffer memory(std::size_t(n) * sizeof(real));
  real* numbers = static_cast<real*>(memory.data());
  std::fill_n(numbers, n, real(1));
  real total = 0;
  double best = 0;
  const double start = seconds();
  for (int timed = 0; timed < least_runs || seconds() - start < 0.15; ++timed) {
    const double before = seconds();
    table.sum(numbers, 1, n, 1, &total);
    best = std::max(best, double(n) * double(sizeof(real)) / (seconds() - before) / 1e9);
  }
  return best;
}

}  // namespace

Machine measure_machine() {
  const kernels::Table& table = kernels::active();
  Machine machine;
  machine.kernels = table.name;
  machine.peak_gflops = best_gflops(table);
  machine.read_gb_per_second = best_read_gb(table);
  machine.threads = threads_in_use();
  return machine;
}

std::string kernel_set() { return kernels::active().name; }

std::vector<std::string> kernel_sets() {
  int count = 0;
  const kernels::Table* const* tables = kernels::usable(count);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(tables[i]->name);
  return names;
}

void use_kernel_set(const std::string& name) { kernels::use(kernels::find(name.c_str())); }

double processor_seconds(const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void use_threads(int count) {
  if (count < 1) {
    throw Error("use_threads: " + std::to_string(count) + " threads asked for; 1 is the least.");
  }
  kernels::set_thread_count(count);
}

int threads_in_use() { return kernels::thread_count(); }

}  // namespace tapestry
