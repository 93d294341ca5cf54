// What this machine can do, measured.
#pragma once

#include <cstddef>
#include <string>

namespace tapestry {

// The limits of one core under the kernel set in use: the two lines of a roofline picture
// (Williams, Waterman, Patterson 2009).
struct Machine {
  std::string kernels = {};   // name of the set in use
  double peak_gflops;         // 10^9 multiply and add operations per second, one core
  double read_gb_per_second;  // 10^9 bytes per second read from memory, one core
  int threads;                // how many threads the library uses
};

// Measures for about half a second on the calling thread. Takes 128 MB from the pool of tensors'
// memory (tapestry/memory.hpp), which keeps them.
Machine measure_machine();

// The two for so many threads at once, the best in about so many seconds. The second reads arrays
// of `bytes` in all again and again: small ones come from the caches. They are of the same pool.
double peak_gflops(int threads, double seconds);
double read_gb_per_second(int threads, double bytes, double seconds);

}  // namespace tapestry
