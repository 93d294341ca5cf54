// What a mask says about a block of attention scores, for kernels to skip what nobody sees.
#pragma once

#include "tapestry/real.hpp"

namespace tapestry {

inline constexpr Index visibility_block = 64;  // most queries, and most keys, of a block

struct BlockVisibility {
  Index keys;   // how many of the block's first keys matter: nobody there may attend to the others
  Index clear;  // how many of those, from the first on, every query there may attend to
};

}  // namespace tapestry
