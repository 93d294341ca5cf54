// What all ranks have to agree on: that they do the same job, and when to stop.
#pragma once

#include <string>
#include <vector>

#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// One thing that must be the same on all ranks: {"the option --width", "64"}.
struct Trait {
  std::string name, value;
};

// Throws the same Error on all ranks where a trait differs on one of them from rank 0, or is
// missing there; the line names the rank, the trait, and both values. All ranks have to call it.
void check_alike(Ranks& ranks, const std::vector<Trait>& traits);

// The largest of the numbers that the ranks give, on all of them. For flags that one rank may have
// and all must follow, such as a signal that came. Two short messages to and from each rank.
Index largest_of_all(Ranks& ranks, Index mine);

}  // namespace tapestry
