#include "clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "course/timing.hpp"
#include "peers.hpp"

namespace tapestry::bench {
namespace {

constexpr double least_timed = 20e-6;  // shorter calls are timed several at once

double time_calls(const Contestant& contestant, int calls) {
  if (contestant.before) contestant.before();
  if (contestant.seconds) return contestant.seconds();
  const double start = now();
  for (int i = 0; i < calls; ++i) contestant.run();
  return (now() - start) / calls;
}

double best_in(const Contestant& contestant, double slice) {
  const double start = now();
  (void)time_calls(contestant, 1);  // not counted: others have used the caches
  double best = time_calls(contestant, 1);
  const bool batch = !contestant.before && !contestant.seconds && best < least_timed;
  const int calls = batch ? static_cast<int>(std::ceil(least_timed / best)) : 1;
  while (now() - start < slice) best = std::min(best, time_calls(contestant, calls));
  return best;
}

// The best times of the two best rounds. When they agree, it was not by chance.
struct Rounds {
  double best = std::numeric_limits<double>::infinity(), second = best;

  void add(double seconds) {
    second = std::min(second, std::max(best, seconds));
    best = std::min(best, seconds);
  }
};
bool is_settled(const Rounds& times) {
  return times.second < 1.03 * times.best || std::isinf(times.best);
}

}  // namespace

void let_threads_rest() { std::this_thread::sleep_for(std::chrono::milliseconds(40)); }

std::vector<Timing> race(const std::vector<Contestant>& contestants, int threads, double seconds) {
  const auto set_threads = [threads](const Contestant& contestant) {
    use_threads_everywhere(contestant.threads == 0 ? threads : contestant.threads);
  };
  std::vector<Rounds> times(contestants.size());
  double slowest = 0;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    set_threads(contestants[i]);
    times[i].add(time_calls(contestants[i], 1));
    const bool counts = contestants[i].threads == 0 && std::isfinite(times[i].best);
    if (counts) slowest = std::max(slowest, times[i].best);
  }
  const int rounds = slowest > 2 * seconds ? 1 : slowest > seconds / 12 ? 3 : 6;
  const double slice = seconds / (rounds * static_cast<double>(contestants.size()));
  const auto settled = [&] { return std::all_of(times.begin(), times.end(), is_settled); };
  const double latest = now() + 4 * seconds;  // else a noisy machine would take too long
  for (int round = 0; round < rounds || (now() < latest && !settled()); ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      if (std::isinf(times[i].best)) continue;
      if (threads > 1) let_threads_rest();
      set_threads(contestants[i]);
      times[i].add(best_in(contestants[i], slice));
    }
  }
  std::vector<Timing> timings;
  for (const Rounds& of_one : times) {
    timings.push_back({of_one.best, std::isinf(of_one.best) ? 0 : of_one.second / of_one.best - 1});
  }
  return timings;
}

}  // namespace tapestry::bench
