// The sum over all ranks, on all ranks.
#pragma once

#include <span>

#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// Replaces `numbers`, as many on each rank, by their sums over all ranks, added in the fixed tree
// over the ranks (fixed_tree.hpp): all ranks get the same bits, and the same ones each time.
//
// Each rank owns a part of the numbers: it gets that part of all others, adds, and sends them the
// sums (a reduce-scatter, then an all-gather). So it sends 2 (R - 1) / R times its numbers, the
// least that is possible (Thakur, Rabenseifner, Gropp 2005), in 2 (R - 1) messages for each 256 KB
// of its part.
void all_reduce(Ranks& ranks, std::span<real> numbers);

}  // namespace tapestry
