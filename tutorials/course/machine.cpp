#include "course/machine.hpp"

#include <span>

#include "course/timing.hpp"
#include "tapestry/kernels.hpp"
#include "tapestry/machine_limits.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {
namespace {

// While it exists, the library computes on so many threads.
class Threads {
 public:
  explicit Threads(int count) { use_threads(count); }
  ~Threads() { use_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = threads_in_use();
};

}  // namespace

double peak_gflops(int threads, double seconds) {
  const Threads together(threads);
  double operations = 0;
  const auto burst = [&](Index rounds) {
    operations = multiply_add_burst(rounds) / static_cast<double>(rounds);
  };
  const double best = best_of_one(burst, seconds);
  return operations / best / 1e9;
}

// What is read lies in memory as tensors do: in small pages the same can take twice as long.
double read_gb_per_second(int threads, double bytes, double seconds) {
  const Threads together(threads);
  const Tensor numbers = Tensor::ones({static_cast<Index>(bytes) / Index(sizeof(real))});
  const std::span<const real> all(numbers.data(), static_cast<std::size_t>(numbers.numel()));
  const auto burst = [&](Index times) {
    for (Index i = 0; i < times; ++i) read_burst(all);
  };
  return static_cast<double>(all.size_bytes()) / best_of_one(burst, seconds) / 1e9;
}

Machine measure_machine() {
  constexpr double beyond_caches = 128e6;  // several times the size of common last-level caches
  return {kernel_set(), peak_gflops(1, 0.1), read_gb_per_second(1, beyond_caches, 0.15),
          threads_in_use()};
}

}  // namespace tapestry
