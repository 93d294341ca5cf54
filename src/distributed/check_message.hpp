// What all kinds of ranks refuse.
#pragma once

#include <string>

#include "tapestry/error.hpp"

namespace tapestry {

inline void check_message(const char* what, int other, int tag, int size) {
  if (other >= 0 && other < size && tag >= 0) return;
  throw Error(std::string(what) + ": rank " + std::to_string(other) + ", tag " +
              std::to_string(tag) + ": ranks are 0 to " + std::to_string(size - 1) +
              ", and tags are not negative.");
}

}  // namespace tapestry
