// The tags of messages: one range for each exchange, so that none takes another's message.
#pragma once

namespace tapestry::tags {

enum : int {
  losses,
  norms,
  words,
  weights,
  state,
  parts,  // of an all-reduce
  sums_of_parts,
  agreement,
  meeting,
  // Of ring attention, one for each place of a window of tiles.
  ring_forward = 256,
  ring_keys = 320,
  ring_queries = 384,
  ring_agreement = 448,
  // + 64 * bucket + node; a rank has fewer than 63 whole nodes, and 63 is their sum
  sums = 1024,
};

}  // namespace tapestry::tags
