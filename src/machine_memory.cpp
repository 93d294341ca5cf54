// How much memory is left: asked of Linux, which tells it in files.
#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "tapestry/machine.hpp"

namespace tapestry {
namespace {

constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

// The number at the beginning of a file; unknown without one ("max", or no such file).
std::size_t number_in(const char* path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : unknown;
}

std::size_t of_system() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    std::size_t kib = 0;
    if (word == "MemAvailable:" && file >> kib) return kib * 1024;
  }
  return unknown;
}

std::size_t of_control_group() {
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit == unknown || used == unknown) return unknown;
  return limit > used ? limit - used : 0;
}

}  // namespace

std::size_t available_memory() { return std::min(of_system(), of_control_group()); }

}  // namespace tapestry
