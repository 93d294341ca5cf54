// The tags of messages: one range for each exchange, so that none takes another's message.
#pragma once

namespace tapestry::tags {

inline constexpr int losses = 1, norms = 2, words = 3, weights = 4, state = 5;
inline constexpr int parts = 7, sums_of_parts = 8;  // of an all-reduce
inline constexpr int agreement = 9, meeting = 10;
// + 64 * bucket + node; a rank has fewer than 63 whole nodes, and 63 is their sum
inline constexpr int sums = 1 << 10;
// Of ring attention, one for each place of a window of tiles.
inline constexpr int ring_forward = 256, ring_keys = 320, ring_queries = 384, ring_agreement = 448;

}  // namespace tapestry::tags
