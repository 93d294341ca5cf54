// The text that a function writes to standard error.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

inline std::string stderr_of(const std::function<void()>& work) {
  std::fflush(stderr);
  std::FILE* file = std::tmpfile();
  const int before = ::dup(2);
  ::dup2(::fileno(file), 2);
  try {
    work();
  } catch (...) {
    ::dup2(before, 2);
    ::close(before);
    std::fclose(file);
    throw;
  }
  std::fflush(stderr);
  ::dup2(before, 2);
  ::close(before);
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}
