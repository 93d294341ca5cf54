// Keys and values of earlier positions, so that later ones do not compute them again.
#pragma once

#include <memory>

#include "tapestry/tensor.hpp"

namespace tapestry {

// Initially empty. Rotary keys are stored rotated. Copies share the numbers, and may be continued
// differently.
struct KeyValueCache {
  Tensor keys = {};    // (batch, num_key_value_heads, positions, d_k)
  Tensor values = {};  // (batch, num_key_value_heads, positions, d_v)

  // Memory that both are the first positions of. If it becomes too small, it doubles, so that a
  // position costs the same however many came before it.
  struct Room;
  std::shared_ptr<Room> room = nullptr;

  [[nodiscard]] Index length() const { return keys.defined() ? keys.size(-2) : 0; }

  // The cache with new keys and values (batch, heads, new positions, width) behind those that it
  // has. While a tape records them, both are concatenated. Throws Error if their shapes do not fit.
  [[nodiscard]] KeyValueCache extended(const Tensor& new_keys, const Tensor& new_values) const;
};

}  // namespace tapestry
