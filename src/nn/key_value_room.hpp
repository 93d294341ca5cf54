// The memory behind caches of keys and values.
#pragma once

#include <memory>

#include "tapestry/nn/key_value_cache.hpp"

namespace tapestry {

struct KeyValueCache::Room {
  Tensor keys, values;  // (batch, heads, positions that there is room for, width)
  Index used = 0;       // positions that one of the caches in this room has
};

// A cache that is not empty in a room with space for `length` positions: in its own, if no other
// cache has written behind it. To be made a cache again by cache_in().
std::shared_ptr<KeyValueCache::Room> room_for(const KeyValueCache& cache, Index length);

// The cache that has the first `length` positions of a room. They must have been written.
KeyValueCache cache_in(const std::shared_ptr<KeyValueCache::Room>& room, Index length);

}  // namespace tapestry
