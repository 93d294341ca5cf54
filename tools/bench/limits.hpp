// The limits of this machine: multiply-adds, and reading from caches and memory.
#pragma once

#include <map>
#include <string>

namespace tapestry::bench {

// The limits for one number of threads, under the kernel set in use. They are never below those of
// `fewer` threads, even if other programs disturbed the measurement.
class Limits {
 public:
  explicit Limits(int threads, Limits* fewer = nullptr) : threads_(threads), fewer_(fewer) {}

  // Both measure at each call, and keep the best.
  double peak_gflops();
  // 10^9 bytes per second, reading arrays of `bytes` in all again and again: small ones come from
  // the caches. Sizes are rounded to a power of two.
  double gb_per_second(double bytes);

  double best_gflops() const { return peak_gflops_; }                          // so far
  const std::map<double, double>& measured() const { return gb_per_second_; }  // by bytes

 private:
  int threads_;
  Limits* fewer_;
  double peak_gflops_ = 0;
  std::map<double, double> gb_per_second_;
};

// How long one thread waits for another's answer, in nanoseconds: a number goes to a second core
// and back, while both spin. What two threads gain in small work depends on it: on a virtual
// machine (Zen 5) it changed between 136 and 690 while programs ran, and with it the gain of a step
// of 1 ms.
class AnswerTime {
 public:
  void measure();                    // some milliseconds; nothing on one processor
  double shortest = 0, longest = 0;  // of all measurements; 0: none
};

// An array so large that it lies in memory, not in a cache.
double bytes_beyond_caches();

std::string processor();  // its name

}  // namespace tapestry::bench
