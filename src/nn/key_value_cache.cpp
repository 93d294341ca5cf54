#include "tapestry/nn/key_value_cache.hpp"

#include <algorithm>

#include "nn/key_value_room.hpp"
#include "tapestry/error.hpp"
#include "tapestry/ops.hpp"
#include "tapestry/tape.hpp"
#include "tensor/raw_ops.hpp"

namespace tapestry {

namespace {

constexpr Index least_room = 64;  // positions

Tensor beginning(const Tensor& room, Index length) {
  return room.as_strided(room.shape().with(-2, length), room.strides(), 0);
}

// Behind the first `used` positions of the room.
void append(const Tensor& room, Index used, const Tensor& x) {
  const Index step = room.strides()[static_cast<std::size_t>(room.ndim()) - 2];
  kernels::copy(sizes(x.shape()), raw(x), x.strides().data(), raw(room) + used * step,
                room.strides().data());
}

bool is_beginning(const Tensor& x, const Tensor& room) {
  return x.buffer() == room.buffer() && x.offset() == 0 && x.strides() == room.strides();
}

bool fits(const Tensor& before, const Tensor& newest) {
  return newest.ndim() == 4 && before.shape() == newest.shape().with(-2, before.size(-2));
}

}  // namespace

std::shared_ptr<KeyValueCache::Room> room_for(const KeyValueCache& cache, Index length) {
  const Index before = cache.length();
  const auto& own = cache.room;
  if (own != nullptr && own->used == before && own->keys.size(-2) >= length &&
      is_beginning(cache.keys, own->keys) && is_beginning(cache.values, own->values)) {
    return own;
  }
  const Index most = std::max({least_room, 2 * before, length});
  const auto room = std::make_shared<KeyValueCache::Room>();
  room->keys = Tensor::empty(cache.keys.shape().with(-2, most));      // (batch, heads, most, d_k)
  room->values = Tensor::empty(cache.values.shape().with(-2, most));  // (batch, heads, most, d_v)
  append(room->keys, 0, cache.keys);
  append(room->values, 0, cache.values);
  return room;
}

KeyValueCache cache_in(const std::shared_ptr<KeyValueCache::Room>& room, Index length) {
  room->used = length;
  return {beginning(room->keys, length), beginning(room->values, length), room};
}

KeyValueCache KeyValueCache::extended(const Tensor& new_keys, const Tensor& new_values) const {
  const Index before = length();
  if (before > 0 && keys.size(0) != new_keys.size(0)) {
    throw Error("multi-head attention: the cache is of a batch of " + std::to_string(keys.size(0)) +
                ", x of one of " + std::to_string(new_keys.size(0)) +
                ". Begin with an empty cache.");
  }
  if (before == 0) return {new_keys, new_values};
  const bool recorded = Tape::needs_gradient(keys) || Tape::needs_gradient(values) ||
                        Tape::needs_gradient(new_keys) || Tape::needs_gradient(new_values);
  if (recorded || !fits(keys, new_keys) || !fits(values, new_values)) {
    // (batch, num_key_value_heads, positions, d_k) and (..., d_v)
    return {concat({keys, new_keys}, -2), concat({values, new_values}, -2)};
  }
  const Index length = before + new_keys.size(-2);
  const auto larger = room_for(*this, length);
  append(larger->keys, before, new_keys);
  append(larger->values, before, new_values);
  return cache_in(larger, length);
}

}  // namespace tapestry
