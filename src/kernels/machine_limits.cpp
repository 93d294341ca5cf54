#include "tapestry/machine_limits.hpp"

#include <unistd.h>

#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/table.hpp"
#include "tapestry/kernels.hpp"

namespace tapestry {
namespace kernels {

Index l2_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const Index told = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (told > 0) return told;
#endif
  return 1 << 20;
}

}  // namespace kernels

double multiply_add_burst(Index rounds) {
  const int threads = threads_in_use();
  std::vector<double> operations(static_cast<std::size_t>(threads));
  kernels::parallel_tasks(threads, 1, [&](Index thread) {
    real sink = 0;
    operations[static_cast<std::size_t>(thread)] = kernels::active().fma_burst(rounds, &sink);
  });
  return threads * operations.front();
}

void read_burst(std::span<const real> numbers) {
  const Index threads = threads_in_use(), count = static_cast<Index>(numbers.size());
  kernels::parallel_tasks(threads, 1, [&](Index thread) {
    const Index begin = count * thread / threads, end = count * (thread + 1) / threads;
    real total = 0;
    kernels::active().sum(numbers.data() + begin, 1, end - begin, 1, &total);
  });
}

}  // namespace tapestry
