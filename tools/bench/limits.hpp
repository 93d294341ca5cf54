// What this machine can do at most: multiply-adds, and reading from wherever the arrays lie.
#pragma once

#include <map>
#include <string>

namespace tapestry::bench {

// The limits for one number of threads, under the kernel set in use.
class Limits {
 public:
  explicit Limits(int threads);  // measures the peak, for 0.1 s

  double peak_gflops() const { return peak_gflops_; }

  // 10^9 bytes per second, reading arrays of `bytes` in all again and again: small ones come from
  // the caches. Measured once for each power of two, for 0.1 s.
  double gb_per_second(double bytes);
  const std::map<double, double>& measured() const { return gb_per_second_; }  // by bytes

 private:
  int threads_;
  double peak_gflops_ = 0;
  std::map<double, double> gb_per_second_;
};

// An array so large that it lies in memory, not in a cache.
double bytes_beyond_caches();

std::string processor();  // its name

}  // namespace tapestry::bench
