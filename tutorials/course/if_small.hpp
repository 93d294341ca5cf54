// An error of rounding as lessons print it: its digits differ between kernel sets.
#pragma once

#include <cmath>
#include <string>

namespace tapestry {

// "less than 1e-5" for five digits, or else, also for NaN, "TOO MUCH".
inline std::string if_small(double error, int digits = 5) {
  return error < std::pow(10, -digits) ? "less than 1e-" + std::to_string(digits) : "TOO MUCH";
}

}  // namespace tapestry
