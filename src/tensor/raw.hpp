// The library's own way to the numbers of a tensor. Tensor::data(), everybody else's, has to take
// into account that the numbers may change while a tape keeps them (tapestry/saved.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tapestry/saved.hpp"
#include "tapestry/tensor.hpp"

namespace tapestry {

// To read, and to fill what was just made. Throws Error if x is undefined.
real* raw(const Tensor& x);

// To change, right now, numbers that others hold, too: weights, say.
inline real* raw_to_change(const Tensor& x) {
  real* const numbers = raw(x);
  Saved::before_change(x.buffer(), false);
  return numbers;
}

// XXH3 of the numbers, in row-major order: never 0, and different for different bits, but for one
// case in 2^64. About as fast as memory can be read.
std::uint64_t fingerprint(const Tensor& x);

// XXH3 of bytes. That of others, given as `before`, makes it one of both.
std::uint64_t fingerprint(std::span<const std::byte> bytes, std::uint64_t before = 0);

}  // namespace tapestry
