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

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) throw Error("there is no such file.");
  if (!std::filesystem::is_regular_file(status)) throw Error("it is not a regular file.");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail();
  struct stat found{};
  void* start = MAP_FAILED;
  const bool known = ::fstat(file, &found) == 0;
  const auto size = static_cast<std::size_t>(found.st_size);
  if (known && size > 0) start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int reason = errno;
  ::close(file);
  if (known && size == 0) return;
  errno = reason;
  if (start == MAP_FAILED) fail();
  bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::drop(std::span<const std::byte> part) const {
  const auto page = static_cast<std::uintptr_t>(::getpagesize());
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(part.data() + part.size());
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace tapestry
