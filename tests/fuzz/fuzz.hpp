// Helpers for the fuzz targets. libFuzzer calls each with any bytes; the library must return or
// throw an Error of one line. All else stops the program, and libFuzzer keeps the bytes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tapestry/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tapestry::fuzz {

inline void require(bool truth, const char* what) {
  if (truth) return;
  std::fprintf(stderr, "fuzz: not so: %s\n", what);
  std::abort();
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A regular file in memory while in scope.
class File {
 public:
  explicit File(std::string_view bytes) : file_(::memfd_create("fuzz", 0)) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    require(written == static_cast<ssize_t>(bytes.size()), "a file in memory can be written");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(file_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

// True if the work succeeded, false if it threw an Error.
template <class Work>
bool done(Work work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos,
            "an Error is one line");
    return false;
  }
}

}  // namespace tapestry::fuzz
