// What this machine can do, measured, and which kernel set computes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tapestry {

// The limits of one core under the kernel set in use: the two lines of a roofline picture
// (Williams, Waterman, Patterson 2009).
struct Machine {
  std::string kernels = {};       // name of the set in use
  double peak_gflops = 0;         // 10^9 multiply and add operations per second, one core
  double read_gb_per_second = 0;  // 10^9 bytes per second read from memory, one core
  int threads = 1;                // how many threads the library uses
};

// Measures for about half a second on the calling thread. Takes 128 MB from the pool of tensors'
// memory (memory.hpp), which keeps them.
Machine measure_machine();

// The set in use: "reference", "sse2", "avx2", "avx512" or "neon64". Throws Error where the
// environment variable TAPESTRY_KERNELS names a set that cannot run here.
std::string kernel_set();

// The sets this machine can run, slowest first.
std::vector<std::string> kernel_sets();

// Computes with this set from now on. Call it while nothing else computes. Throws Error, listing
// the usable sets, for any other name.
void use_kernel_set(const std::string& name);

// How many bytes this process could still take from the system: what is free there or easily made
// so, within the limit of its control group, where these can be known (Linux); else the largest
// number.
std::size_t available_memory();

// Runs `work` three times, and returns the least seconds of processor time, that of all threads
// together: waiting for other programs does not count.
double processor_seconds(const std::function<void()>& work);

// How many threads the library uses on this thread's behalf from now on, 255 at most. At the start
// they are as many as OMP_NUM_THREADS says (the first number of its list), or else as many as the
// processors this process may use. Results are the same bits for any. While other programs keep the
// processors busy, the library goes on with one. Throws Error for a count below 1.
void use_threads(int count);
int threads_in_use();

}  // namespace tapestry
