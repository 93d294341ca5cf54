#include "tapestry/kernels.hpp"

#include "kernels/parallel.hpp"
#include "kernels/sets.hpp"
#include "kernels/table.hpp"
#include "tapestry/error.hpp"

namespace tapestry {

std::string kernel_set() { return kernels::active().name; }

std::vector<std::string> kernel_sets() {
  int count = 0;
  const kernels::Table* const* tables = kernels::usable(count);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(tables[i]->name);
  return names;
}

void use_kernel_set(const std::string& name) { kernels::use(kernels::find(name.c_str())); }

void use_threads(int count) {
  if (count < 1) {
    throw Error("use_threads: " + std::to_string(count) + " threads asked for; 1 is the least.");
  }
  kernels::set_thread_count(count);
}

int threads_in_use() { return kernels::thread_count(); }

int thread_count_in(std::string_view text) { return kernels::first_number(text); }

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
