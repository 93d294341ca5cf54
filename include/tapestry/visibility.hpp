// The visibility of a block of attention scores under a mask, for kernels to skip masked parts.
#pragma once

#include "tapestry/real.hpp"

namespace tapestry {

inline constexpr Index visibility_block = 64;  // most queries, and most keys, of a block

struct BlockVisibility {
  Index keys;   // number of the block's first keys that matter: the others are fully masked
  Index clear;  // how many of those, from the first on, are visible to every query there
};

}  // namespace tapestry
