// A file as memory: its pages are read when they are first accessed, and need not be kept.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tapestry {

// Unmapped by the destructor. A file that another program shortens meanwhile ends this one
// (SIGBUS).
class MappedFile {
 public:
  // Throws Error, which does not name the file, if it is not a regular one that can be read.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

  // Takes the pages of this part of a mapped file out of the process's memory; they are read again
  // when accessed.
  static void drop(std::span<const std::byte> part);

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace tapestry
