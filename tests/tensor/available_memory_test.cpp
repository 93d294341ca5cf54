#include "tensor/available_memory.hpp"

#include <unistd.h>

#include <limits>

#include "catch.hpp"
#include "tapestry/memory.hpp"
#include "temporary_folder.hpp"

using namespace tapestry;

namespace {

namespace fs = std::filesystem;

// The files of a system; those of an empty text are not there.
std::size_t left(const std::string& meminfo, const std::string& max, const std::string& current,
                 const std::string& limits = "", const std::string& statm = "") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    const fs::path path = folder / name;
    fs::create_directories(path.parent_path());
    if (!text.empty()) std::ofstream(path) << text;
  };
  write("proc/meminfo", meminfo);
  write("sys/fs/cgroup/memory.max", max);
  write("sys/fs/cgroup/memory.current", current);
  write("proc/self/limits", limits);
  write("proc/self/statm", statm);
  return available_memory(folder / "");
}

}  // namespace

TEST_CASE("memory that is left is the least of what the system and the group have",
          "[phase6][memory]") {
  const std::string info = "MemTotal: 9000 kB\nMemFree: 7 kB\nMemAvailable: 5000 kB\nSwap: 1 kB\n";
  constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();
  CHECK(left(info, "", "") == 5000 * 1024);
  CHECK(left(info, "max\n", "123\n") == 5000 * 1024);
  CHECK(left(info, "4000\n", "") == 5000 * 1024);
  CHECK(left(info, "", "4000\n") == 5000 * 1024);
  CHECK(left(info, "4000\n", "1500\n") == 2500);
  CHECK(left(info, "1500\n", "1500\n") == 0);
  CHECK(left(info, "1500\n", "1501\n") == 0);  // a limit that was lowered
  CHECK(left("", "4000\n", "0\n") == 4000);
  CHECK(left("MemTotal: 9000 kB\n", "", "") == unknown);
  CHECK(left("", "", "") == unknown);
}

TEST_CASE("a limit on what the process may address counts as well", "[phase6][memory]") {
  const std::string info = "MemAvailable: 5000 kB\n", before = "Max locked memory  1  1  bytes\n";
  const auto page = static_cast<std::size_t>(::getpagesize());
  const auto within = [&](const std::string& limit, const std::string& pages) {
    return left(info, "", "", before + "Max address space  " + limit + "  9  bytes\n", pages);
  };
  CHECK(within(std::to_string(10 * page), "7 3 1\n") == 3 * page);
  CHECK(within(std::to_string(10 * page), "11 3 1\n") == 0);
  CHECK(within(std::to_string(10 * page), "") == 5000 * 1024);
  CHECK(within("unlimited", "7 3 1\n") == 5000 * 1024);
  CHECK(left(info, "", "", before, "7 3 1\n") == 5000 * 1024);
}

TEST_CASE("memory is left on this machine", "[phase6][memory]") {
  CHECK(available_memory() > (1u << 20));
}
