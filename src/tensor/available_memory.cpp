#include "tensor/available_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "tapestry/memory.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

// The number at the beginning of a file; unknown without one ("max", or no such file).
std::size_t number_in(const fs::path& path) {
  std::ifstream file(path);
  std::size_t number;
  return file >> number ? number : unknown;
}

std::size_t of_system(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  for (std::string word; file >> word;) {
    std::size_t kib;
    if (word == "MemAvailable:" && file >> kib) return kib * 1024;
  }
  return unknown;
}

// `ulimit -v`
std::size_t of_process(const fs::path& root) {
  const std::string name = "Max address space";
  const std::size_t pages = number_in(root / "proc/self/statm");
  if (pages == unknown) return unknown;
  std::ifstream file(root / "proc/self/limits");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream words(line.substr(name.size()));
    std::size_t limit;
    if (!(words >> limit)) return unknown;
    return limit - std::min(pages * static_cast<std::size_t>(::getpagesize()), limit);
  }
  return unknown;
}

std::size_t of_control_group(const fs::path& root) {
  const std::size_t limit = number_in(root / "sys/fs/cgroup/memory.max");
  const std::size_t used = number_in(root / "sys/fs/cgroup/memory.current");
  if (limit == unknown || used == unknown) return unknown;
  return limit - std::min(used, limit);
}

}  // namespace

std::size_t available_memory(const fs::path& root) {
  return std::min({of_system(root), of_control_group(root), of_process(root)});
}

std::size_t available_memory() { return available_memory("/"); }

}  // namespace tapestry
