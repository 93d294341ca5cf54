// Fair timing: warm caches, the best of many short calls, contestants in turn.
#pragma once

#include <vector>

#include "row.hpp"

namespace tapestry::bench {

double now();  // seconds from some fixed moment

// The best time of one call of each contestant, after about `seconds` in all. They run in turn, in
// several rounds, so that a slow moment of the machine meets all of them; as long as the two best
// rounds of one disagree, up to four times as many.
std::vector<double> race(const std::vector<Contestant>& contestants, int threads, double seconds);

}  // namespace tapestry::bench
