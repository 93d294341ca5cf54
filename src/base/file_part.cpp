#include "base/file_part.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <string>

#include "tapestry/format.hpp"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

// Eight digits that identify this machine.
std::string machine() {
  char name[HOST_NAME_MAX + 1] = {};
  ::gethostname(name, sizeof name);
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char* c = name; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
  }
  return formatted("%08x", static_cast<unsigned>(hash));
}

// The common prefix of the names of all parts for `target`, from which a long name is cut.
std::string beginning(const fs::path& target) {
  return target.filename().string().substr(0, 200) + ".part-" + machine() + "-";
}

int open_part(const fs::path& part) {
  const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int file = ::open(part.c_str(), O_RDWR | flags);  // some file systems need this to lock
  return file >= 0 ? file : ::open(part.c_str(), O_RDONLY | flags);
}

bool is_named(int file, const fs::path& path) {
  struct stat opened{}, named{};
  return ::fstat(file, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         S_ISREG(opened.st_mode) && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

int make_part(const fs::path& target, fs::path& part) {
  static std::atomic<unsigned> serial;
  constexpr int tries = 8;
  for (int i = 1;;) {
    part = target.parent_path() /
           (beginning(target) + std::to_string(::getpid()) + "-" + std::to_string(++serial));
    const int file =
        ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0 && errno == EEXIST) continue;  // a dead part that could not be removed
    if (file < 0) return -1;
    ::flock(file, LOCK_EX);
    // Before it was locked, another writer may have removed it as dead.
    struct stat status{};
    if (::fstat(file, &status) != 0 || status.st_nlink > 0 || i++ == tries) return file;
    ::close(file);
  }
}

void remove_dead_parts(const fs::path& target) {
  const std::string start = beginning(target);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code problem;
  fs::directory_iterator entry(folder, problem);
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    const fs::path part = entry->path();
    if (!part.filename().string().starts_with(start)) continue;
    const int file = open_part(part);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0 && is_named(file, part)) ::unlink(part.c_str());
    ::close(file);
  }
}

}  // namespace tapestry
