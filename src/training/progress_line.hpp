// What a progress line tells, and when one is due.
#pragma once

#include <string>

#include "tapestry/real.hpp"

namespace tapestry {

// "3.2 s", "4 min", "2.5 h"
std::string duration_text(double seconds);

struct Pace {
  Index done, before, total;  // steps; `before`: of an earlier run
  Index tokens;               // in each step; 0: they are not told
  double seconds;             // since the start
};

// "310/s, 2.6 s left", "1200 tokens/s, 4 min left"
std::string speed_and_rest(const Pace& pace);

// On a terminal ten times a second and at the end, elsewhere five times in all.
bool line_is_due(bool live, double seconds_since_last, Index done, Index total);

}  // namespace tapestry
