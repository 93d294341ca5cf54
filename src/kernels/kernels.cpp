#include "tapestry/kernels.hpp"

#include "kernels/pool.hpp"
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

}  // namespace tapestry
