// The tags of messages: one range for each exchange, so that none takes another's message.
#pragma once

namespace tapestry::tags {

inline constexpr int losses = 1, norms = 2, words = 3, gathered = 4, state = 5;
inline constexpr int sums = 1 << 10;  // + 64 * bucket + node; a rank has fewer than 64 whole nodes
inline constexpr int ring = 1 << 28;

}  // namespace tapestry::tags
