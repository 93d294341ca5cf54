// The text that a function writes to standard error or output.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

inline std::string text_to(std::FILE* stream, const std::function<void()>& work) {
  std::fflush(stream);
  std::FILE* file = std::tmpfile();
  const int number = ::fileno(stream), before = ::dup(number);
  ::dup2(::fileno(file), number);
  try {
    work();
  } catch (...) {
    ::dup2(before, number);
    ::close(before);
    std::fclose(file);
    throw;
  }
  std::fflush(stream);
  ::dup2(before, number);
  ::close(before);
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

inline std::string stderr_of(const std::function<void()>& work) { return text_to(stderr, work); }
inline std::string stdout_of(const std::function<void()>& work) { return text_to(stdout, work); }
