#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "tapestry/error.hpp"

namespace tapestry {
namespace {

[[noreturn]] void fail() {
  throw Error(std::string("it cannot be read: ") + std::strerror(errno) + ".");
}

// A file that is closed at the end; a map of it stays.
struct Opened {
  int number;
  ~Opened() { ::close(number); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) throw Error("there is no such file.");
  if (!std::filesystem::is_regular_file(status)) throw Error("it is not a regular file.");
  const Opened file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat found{};
  if (file.number < 0 || ::fstat(file.number, &found) != 0) fail();
  const auto size = static_cast<std::size_t>(found.st_size);
  if (size == 0) return;  // of nothing there is no map
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (start == MAP_FAILED) fail();
  bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::drop(std::span<const std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(part.data() + part.size());
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace tapestry
