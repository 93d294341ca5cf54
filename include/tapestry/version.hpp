// The version of Tapestry, for a program that works with several. Before 1.0 a new MINOR may change
// what a program uses; .github/CHANGES.md lists it. The build reads the version here.
#pragma once

#include <string>

#define TAPESTRY_VERSION_MAJOR 0
#define TAPESTRY_VERSION_MINOR 1
#define TAPESTRY_VERSION_PATCH 0

namespace tapestry {

// "MAJOR.MINOR.PATCH"
[[nodiscard]] inline std::string version() {
  return std::to_string(TAPESTRY_VERSION_MAJOR) + '.' + std::to_string(TAPESTRY_VERSION_MINOR) +
         '.' + std::to_string(TAPESTRY_VERSION_PATCH);
}

}  // namespace tapestry
