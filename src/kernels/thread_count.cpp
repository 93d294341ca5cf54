// The number of threads for loops.
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "kernels/pool.hpp"

namespace tapestry::kernels {
namespace {

int processors_allowed() {
#ifdef __EMSCRIPTEN__
  return 1;  // a page from a folder has no threads
#else
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return int(std::thread::hardware_concurrency());
#endif
}

thread_local int set_by_thread = 0;

}  // namespace

double quota(const char* path) {
  std::ifstream file(path);
  double time = 0, period = 0;
  return file >> time >> period && time > 0 && period > 0 ? time / period : most_threads;
}

int first_number(std::string_view text) {
  const auto skip_spaces = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  };
  skip_spaces();
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(std::size_t(end - text.data()));
  skip_spaces();
  const bool is_list = problem == std::errc() && (text.empty() || text.front() == ',');
  return is_list ? std::max(number, 0) : 0;
}

int count_at_the_start(const char* wish) {
  const int asked = wish == nullptr ? 0 : first_number(wish);
  if (asked > 0) return std::min(asked, most_threads);
  const double most = std::min(quota("/sys/fs/cgroup/cpu.max"), double{most_threads});
  return std::min(processors_allowed(), int(std::ceil(most)));
}

int thread_count() {
  if (set_by_thread > 0) return set_by_thread;
  static const int at_the_start = count_at_the_start(std::getenv("OMP_NUM_THREADS"));
  return at_the_start;
}

void set_thread_count(int count) { set_by_thread = std::min(count, most_threads); }

}  // namespace tapestry::kernels
