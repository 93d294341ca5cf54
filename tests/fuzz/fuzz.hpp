// What the fuzz targets share. libFuzzer calls each with bytes of its own; whatever they are, the
// library answers, or throws an Error of one line. All else stops the program: libFuzzer then keeps
// the bytes.
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

// A regular file in memory while it lives.
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

// True if the work was done, false if an Error refused it.
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
