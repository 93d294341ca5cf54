// For tests of what files a process has open.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <iterator>

inline auto open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

// While it exists, the first file that is opened gets the number 0.
class WithoutInput {
 public:
  WithoutInput() : input_(::dup(0)) { ::close(0); }
  WithoutInput(const WithoutInput&) = delete;
  WithoutInput& operator=(const WithoutInput&) = delete;
  ~WithoutInput() {
    ::dup2(input_, 0);
    ::close(input_);
  }

 private:
  int input_;
};
