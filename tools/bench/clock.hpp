// Fair timing: warm caches, the best of many short calls, contestants in turn.
#pragma once

#include <vector>

#include "row.hpp"

namespace tapestry::bench {

// Threads of the contestant before may still spin while they wait for work: OpenBLAS's do for
// 2^26 cycles.
void let_threads_rest();

// The best time of one call of each contestant, after about `seconds` of work in all. They run in
// turn, in several rounds, so that a slow moment of the machine meets all of them. As long as the
// two best rounds of one disagree, more rounds begin, until four times `seconds` have passed, rests
// included: slow work gets none. Infinite for one that cannot work any more. Afterwards the library
// and its peers use as many threads as the last contestant.
std::vector<Timing> race(const std::vector<Contestant>& contestants, int threads, double seconds);

}  // namespace tapestry::bench
