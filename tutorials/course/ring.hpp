// Messages on the ring of all ranks: each sends to the next one and receives from the previous one.
#pragma once

#include <cstddef>
#include <span>

#include "tapestry/distributed/ranks.hpp"

namespace tapestry {

// Sends `out` to the next rank, fills `in` from the previous one, and returns when both are done.
// To be called on all ranks; each `in` has the size of the previous rank's `out`, or Ranks::wait
// throws Error. Both messages are begun before either is waited for: if all ranks first waited
// until theirs is sent, none might go on to receive.
void exchange(Ranks& ranks, std::span<const std::byte> out, std::span<std::byte> in);

// The ring of step 80, by such messages: replaces `numbers`, as many on each rank, by their sums
// over all ranks, the same bits on each. To be called on all of them.
void ring_all_reduce(Ranks& ranks, std::span<real> numbers);

}  // namespace tapestry
