// The choice of kernel set and number of threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapestry {

// The set in use: "reference", "sse2", "avx2", "avx512" or "neon64". Throws Error where the
// environment variable TAPESTRY_KERNELS names a set that cannot run here.
[[nodiscard]] std::string kernel_set();

// The sets this machine can run, slowest first.
[[nodiscard]] std::vector<std::string> kernel_sets();

// Uses this set from now on. Call it while no other thread computes. Throws Error, listing the
// usable sets, for any other name.
void use_kernel_set(const std::string& name);

// How many threads the library uses for calls from this thread from now on, 255 at most. The
// default is OMP_NUM_THREADS (the first number of its list), or else the number of processors this
// process may use. Results are bitwise equal for any number. While other programs keep the
// processors busy, the library uses one. Throws Error for a count below 1.
void use_threads(int count);
[[nodiscard]] int threads_in_use();

// The number of threads in a text such as OMP_NUM_THREADS holds: "4" or "4,2"; 0: none.
[[nodiscard]] int thread_count_in(std::string_view text);

}  // namespace tapestry
