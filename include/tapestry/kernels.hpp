// Which kernel set computes, and on how many threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapestry/real.hpp"

namespace tapestry {

// The set in use: "reference", "sse2", "avx2", "avx512" or "neon64". Throws Error where the
// environment variable TAPESTRY_KERNELS names a set that cannot run here.
std::string kernel_set();

// The sets this machine can run, slowest first.
std::vector<std::string> kernel_sets();

// Computes with this set from now on. Call it while nothing else computes. Throws Error, listing
// the usable sets, for any other name.
void use_kernel_set(const std::string& name);

// How many threads the library uses on this thread's behalf from now on, 255 at most. At the start
// they are as many as OMP_NUM_THREADS says (the first number of its list), or else as many as the
// processors this process may use. Results are the same bits for any. While other programs keep the
// processors busy, the library goes on with one. Throws Error for a count below 1.
void use_threads(int count);
int threads_in_use();

// The number of threads that a text like that of OMP_NUM_THREADS asks for: "4" or "4,2"; 0: none.
int thread_count_in(std::string_view text);

// For measuring what a core can do: multiplies and adds in registers, so many rounds on the calling
// thread alone. Returns how many operations that were.
double multiply_add_burst(Index rounds);

}  // namespace tapestry
