// How long work takes: by the clock on the wall, or by the processor.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <vector>

namespace tapestry {

// Seconds since some fixed moment, by a clock that never goes back.
inline double now() {
  const auto moment = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(moment).count();
}

// Seconds of processor time that this process has taken, all its threads together: waiting for
// other programs does not count.
inline double processor_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class Work>
double seconds_of(const Work& work) {
  const double start = now();
  work();
  return now() - start;
}

// The least of at least so many runs, in about so many seconds: what else the machine does can only
// make a run longer.
template <class Work>
double best_seconds(const Work& work, int least_runs, double seconds) {
  const double start = now();
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < least_runs || now() - start < seconds; ++run) {
    best = std::min(best, seconds_of(work));
  }
  return best;
}

// The least time of one of the many in a burst, tried for about so many seconds.
template <class Burst>
double best_of_one(const Burst& burst, double seconds) {
  constexpr int least_runs = 3;         // however slow they were: one alone may have been disturbed
  constexpr double least_time = 0.002;  // shorter bursts cannot be timed well
  std::int64_t times = 1;
  while (seconds_of([&] { burst(times); }) < least_time) times *= 2;
  return best_seconds([&] { burst(times); }, least_runs, seconds) / static_cast<double>(times);
}

// The least processor time of so many runs.
template <class Work>
double processor_seconds(const Work& work, int runs = 3) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    const double start = processor_now();
    work();
    best = std::min(best, processor_now() - start);
  }
  return best;
}

// The same of `count` works that take turns: in each round, work(0), work(1), ... once. What
// disturbs the machine for a while then meets all of them.
template <class Work>
std::vector<double> processor_seconds_in_turns(std::size_t count, int rounds, const Work& work) {
  std::vector<double> best(count, std::numeric_limits<double>::infinity());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      best[i] = std::min(best[i], processor_seconds([&] { work(i); }, 1));
    }
  }
  return best;
}

// The middle one, or the mean of the two in the middle. `values` must not be empty.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

}  // namespace tapestry
