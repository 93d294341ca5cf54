#include "clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

namespace tapestry::bench {
namespace {

constexpr double least_timed = 20e-6;  // shorter calls are timed several at once

double time_calls(const Contestant& contestant, int calls) {
  if (contestant.before) contestant.before();
  const double start = now();
  for (int i = 0; i < calls; ++i) contestant.run();
  return (now() - start) / calls;
}

// Threads of the contestant before may still spin while they wait for work: OpenBLAS's do for
// 2^26 cycles.
void let_threads_rest() { std::this_thread::sleep_for(std::chrono::milliseconds(40)); }

}  // namespace

double now() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

std::vector<double> race(const std::vector<Contestant>& contestants, int threads, double seconds) {
  std::vector<double> best;
  for (const Contestant& contestant : contestants) best.push_back(time_calls(contestant, 1));
  const double slowest = *std::max_element(best.begin(), best.end());
  const int rounds = slowest > 2 * seconds ? 1 : slowest > seconds / 12 ? 3 : 6;
  const double slice = seconds / (rounds * static_cast<double>(contestants.size()));
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      if (threads > 1) let_threads_rest();
      const double start = now();
      const double first = time_calls(contestants[i], 1);  // warms the caches
      const bool batch = !contestants[i].before && first < least_timed;
      const int calls = batch ? static_cast<int>(std::ceil(least_timed / first)) : 1;
      best[i] = std::min(best[i], first);
      while (now() - start < slice) best[i] = std::min(best[i], time_calls(contestants[i], calls));
    }
  }
  return best;
}

}  // namespace tapestry::bench
