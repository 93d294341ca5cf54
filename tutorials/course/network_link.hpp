// What a message costs: two numbers that describe the connection of two ranks.
#pragma once

#include <cmath>

namespace tapestry {

struct NetworkLink {
  double latency = 0;           // seconds until a message's first byte arrives
  double bandwidth = INFINITY;  // bytes per second

  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

}  // namespace tapestry
