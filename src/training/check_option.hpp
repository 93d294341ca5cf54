// What optimizers and schedules say of an option out of its range.
#pragma once

#include <cmath>
#include <string>

#include "tapestry/error.hpp"
#include "tapestry/format.hpp"

namespace tapestry {

// NaN and infinities are outside of every range.
inline void check_option(const std::string& owner, const char* name, double value, bool allowed,
                         const std::string& range) {
  if (allowed && std::isfinite(value)) return;
  throw Error(formatted("%s: %s is %g: it must be %s.", owner.c_str(), name, value, range.c_str()));
}

}  // namespace tapestry
